"""A referee for other people's 2048: drive an engine through its own interface and check it against exact rules."""

from tilewright.audit.audit import audit_engine
from tilewright.audit.engines import Engine, View, open_engine
from tilewright.audit.report import AuditReport, CheckResult, Example, Finding

__all__ = [
    "AuditReport",
    "CheckResult",
    "Engine",
    "Example",
    "Finding",
    "View",
    "audit_engine",
    "open_engine",
]
