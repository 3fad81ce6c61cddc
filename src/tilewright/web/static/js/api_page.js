/** The API as a page: every operation of the description with its parameters, and GET requests to try. */

import { $, make, memory, setTheme } from "./dom.js";
import { language, loadLanguage, t, translate } from "./language.js";
import { limitsOf, operationsOf, typeOf } from "./openapi.js";

const MOST = 20_000; // characters of an answer

setTheme(memory.get("theme", ""));
await loadLanguage(memory.get("language", ""));
document.documentElement.lang = language();
translate(document);
document.title = `${t("api.title")} – tilewright`;

const description = await (await fetch("api/v1/openapi.json")).json();
$("operations").replaceChildren(...operationsOf(description).map(card));

function card(operation) {
  const { method, path, id, summary, fields } = operation;
  const parts = [make("summary", {}, make("b", {}, method), " ", make("code", {}, path), " ", make("span", { class: "soft" }, id))];
  parts.push(make("p", {}, summary));
  if (fields.length) parts.push(tableOf(fields));
  if (method === "GET") parts.push(trial(operation));
  return make("details", { class: "card", id }, ...parts);
}

function tableOf(fields) {
  const head = ["name", "type", "limits", "means"].map((name) => make("th", { scope: "col" }, t(`api.${name}`)));
  const rows = fields.map(({ name, schema, isRequired, about }) => {
    const shown = isRequired ? t("api.required", { name }) : name;
    const cells = [typeOf(schema), limitsOf(schema), about].map((words) => make("td", {}, words));
    return make("tr", {}, make("th", { scope: "row" }, shown), ...cells);
  });
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("api.parameters") }, table);
}

/** A form that sends a request and shows its answer. */
function trial({ path, fields }) {
  const inputs = fields.map((field) => {
    const input = make("input", { name: field.name, type: "text", required: field.isRequired, autocomplete: "off", spellcheck: "false" });
    input.value = field.example;
    return [field, input];
  });
  const answer = make("pre", { tabindex: "0", hidden: true });
  const labels = inputs.map(([field, input]) => make("label", {}, make("span", {}, field.name), input));
  const form = make("form", { class: "row" }, ...labels, make("button", { class: "main", type: "submit" }, t("api.try")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = inputs.filter(([, input]) => input.value !== "");
    const query = new URLSearchParams(given.filter(([{ place }]) => place === "query").map(([{ name }, { value }]) => [name, value]));
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(given.find(([field]) => field.name === name)?.[1].value ?? ""));
    answer.hidden = false;
    try {
      const found = await fetch(`.${filled}${query.size ? `?${query}` : ""}`);
      answer.textContent = `${found.status}\n${JSON.stringify(await found.json(), null, 2).slice(0, MOST)}`;
    } catch (error) {
      answer.textContent = error.message;
    }
  });
  return make("div", {}, form, answer);
}
