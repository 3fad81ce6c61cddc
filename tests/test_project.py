"""The files around the package are what GitHub, Dependabot, pre-commit and citation tools read."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
STEP_KEYS = {"uses", "run", "with", "if", "name", "env", "id", "shell", "working-directory"}
JOB_KEYS = {
    "concurrency", "env", "environment", "if", "name", "needs", "permissions", "runs-on", "steps", "strategy",
    "timeout-minutes",
}  # fmt: skip
WORKFLOW_KEYS = {"name", True, "permissions", "concurrency", "env", "jobs"}  # YAML 1.1 reads the key `on` as true
PERMISSIONS = {"none", "read", "write"}
CITATION_KEYS = {
    "abstract", "authors", "cff-version", "date-released", "keywords", "license", "message", "title", "type", "version",
}  # fmt: skip
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_there_are_workflows_for_tests_docs_and_releases() -> None:
    assert [path.stem for path in WORKFLOWS] == ["docs", "release", "tests"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_the_form_that_github_reads(path: Path) -> None:
    workflow = read(path)
    assert workflow.keys() <= WORKFLOW_KEYS
    assert set(workflow["permissions"].values()) <= PERMISSIONS
    jobs = workflow["jobs"]
    for job in jobs.values():
        assert job.keys() <= JOB_KEYS
        assert job["runs-on"]
        assert {job["needs"]} <= jobs.keys() if "needs" in job else True
        assert set(job.get("permissions", {}).values()) <= PERMISSIONS
        matrix = job.get("strategy", {}).get("matrix", {})
        assert set(re.findall(r"\$\{\{ matrix\.(\w+) \}\}", str(job))) == matrix.keys()
        for step in job["steps"]:
            assert step.keys() <= STEP_KEYS
            assert ("uses" in step) != ("run" in step)
            assert re.fullmatch(r"[\w-]+/[\w-]+@[\w./-]+", step.get("uses", "owner/name@v1"))


def test_the_tests_run_on_every_system_and_python_that_the_package_names() -> None:
    matrix = read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["core"]["strategy"]["matrix"]
    named = re.findall(r"Python :: (3\.\d+)'", str(PROJECT["classifiers"]))
    assert matrix["python"] == named
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]


def test_the_commands_of_workflows_name_what_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    text = "\n".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    for target in re.findall(r"run: make (\w+)", text):
        assert f"\n{target}:" in makefile
    folders = re.findall(r"\btests/\w+", text)
    assert folders
    assert all((ROOT / folder).is_dir() for folder in folders)


def test_a_release_is_published_without_a_stored_token() -> None:
    publish = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert "password" not in str(publish)


@pytest.mark.parametrize("name", ["bug", "idea"])
def test_an_issue_form_has_labelled_fields(name: str) -> None:
    form = read(ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml")
    assert form.keys() == {"name", "description", "labels", "body"}
    identifiers = [field["id"] for field in form["body"]]
    assert len(set(identifiers)) == len(identifiers) > 0
    for field in form["body"]:
        assert field["type"] in {"checkboxes", "dropdown", "input", "markdown", "textarea"}
        assert field["attributes"]["label"]


def test_dependabot_watches_packages_and_actions() -> None:
    config = read(ROOT / ".github" / "dependabot.yml")
    assert config["version"] == 2
    assert [update["package-ecosystem"] for update in config["updates"]] == ["pip", "github-actions"]
    for update in config["updates"]:
        assert update["schedule"]["interval"] in {"daily", "weekly", "monthly"}
        assert update["directory"] == "/"


def test_pre_commit_runs_the_ruff_that_make_check_runs() -> None:
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert [hook["id"] for hook in repository["hooks"]] == ["ruff-check", "ruff-format"]
    (ruff,) = re.findall(r"^ruff==(.*)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert repository["rev"] == f"v{ruff}"


def test_the_citation_has_what_the_format_requires() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert citation.keys() <= CITATION_KEYS
    assert {"authors", "cff-version", "message", "title"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] in {"dataset", "software"}
    assert all(author["name"] for author in citation["authors"])
    assert citation["license"] == PROJECT["license"]
    assert all(isinstance(keyword, str) for keyword in citation["keywords"])
