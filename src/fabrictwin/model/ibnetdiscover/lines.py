# SPDX-License-Identifier: Apache-2.0
"""The lines that matter of a file, and those that only its tool's progress and mishaps have left in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabrictwin.errors import InputError
from fabrictwin.model.ibnetdiscover.survey import Survey

MAX_LINES = 200_000
"""A cluster of 11,664 HCAs in a tree of three levels fills 150,000."""
MAX_LINE_LENGTH = 2_000
_SHOWN = 80

# Identifiers that the header of a node repeats, headings of chassis, and the progress lines of `-s`.
_IGNORED = re.compile(
    r"#|DR path |(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|Chassis \S+|Non-Chassis Nodes\Z"
)
# `ibwarn: [123] …`, `ibnetdiscover: iberror: …`, `src/query_smp.c:228; …`
_TOOL_MESSAGE = re.compile(
    r"(?:ibwarn|ibpanic|iberror|ibnetdiscover|perl|warning)\b|-[EWI]- |\S+\.c:\d+[:;]", re.I
)


def lines_of(text: str, survey: Survey) -> Iterator[tuple[int, str]]:
    """(line number, line) of every line that is not noise; messages of the tool become warnings.

    Args:
        text: The whole file.
        survey: Takes warnings and problems.

    Raises:
        InputError: The file has too many lines.
    """
    if text.count("\n") > MAX_LINES:
        survey.complain(f"more than {MAX_LINES:,} lines", MAX_LINES + 1)
        raise InputError(survey.problems)
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > MAX_LINE_LENGTH:
            survey.complain(f"the line is longer than {MAX_LINE_LENGTH:,} characters", number)
        elif line.startswith("["):
            yield number, line.rstrip()
        elif line and not line.isspace() and not _IGNORED.match(line):
            if _TOOL_MESSAGE.match(line):
                survey.warn(f"the tool said: {line[:_SHOWN].rstrip()}", number)
            else:
                yield number, line.rstrip()


def not_understood(line: str) -> str:
    """The message for a line that fits nothing."""
    shown = line[:_SHOWN] + ("…" if len(line) > _SHOWN else "")
    return f"not a line of ibnetdiscover output, or cut off: {shown!r}"
