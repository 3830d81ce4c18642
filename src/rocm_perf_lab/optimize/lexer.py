"""C++ as tokens, just enough to judge an edit: every trick that makes text read differently from
what it looks like (line splices, trigraphs, raw strings, invisible characters) is an error here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["name", "number", "string", "character", "punctuation", "directive"]

LOOPS = ("for", "while", "do")
OPEN, CLOSE = "([{", ")]}"
# Longest first; only those whose parts would read differently alone.
PUNCTUATION = (
    "<<<", ">>>", "<=>", "->*", "...", "<<=", ">>=", "::", "->", "++", "--", "<<", ">>", "<=", ">=",
    "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##", ".*",
)  # fmt: skip

_SPACE = re.compile(r"[ \t\r\n]+")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_NUMBER = re.compile(r"\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.']|'(?=[0-9A-Za-z_]))*")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_CHARACTER = re.compile(r"'(?:[^'\\\n]|\\.)+'")
_SPLICE = re.compile(r"\\[ \t\v\f\r]*(?:\n|\r|$)")
_DIGRAPHS = ("%:", "<%", "%>", "<:", ":>")
_UNROLL = re.compile(
    r"#\s*(?:pragma\s+(?:unroll(?:\s+\d+|\s*\(\s*\d+\s*\))?|nounroll"
    r"|clang\s+loop\s+unroll(?:_count\s*\(\s*\d+\s*\)|\s*\((?:full|enable|disable)\))))\s*$"
)


class Trick(Exception):
    """The text does not mean what it looks like, or does not end where it seems to."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@dataclass(frozen=True)
class Token:
    kind: Kind
    text: str
    offset: int  # in characters

    @property
    def is_unroll(self) -> bool:
        return self.kind == "directive" and _UNROLL.match(self.text) is not None


def check_characters(text: str, offset: int = 0, *, comment: bool = False) -> None:
    """Refuse what an editor does not show or shows like another; words in comments may be any."""
    for at, character in enumerate(text):
        if character in "\t\n" or " " <= character <= "~":
            continue
        if character == "\r" and text[at + 1 : at + 2] in (("\n", "") if comment else ("\n",)):
            continue
        # Letters, marks, numbers, punctuation, symbols, spaces: no control, format or separator.
        if comment and unicodedata.category(character)[0] in "LMNPS":
            continue
        if comment and unicodedata.category(character) == "Zs":
            continue
        name = unicodedata.name(character, f"U+{ord(character):04X}").lower()
        raise Trick(f"the character {name} (U+{ord(character):04X})", offset + at)


def tokens(text: str, *, trusted: bool = False) -> list[Token]:
    """Tokens without comments and white space; a preprocessor line is one token.

    `trusted` leaves out the look at single characters (for bytes read as Latin-1).
    """
    if splice := _SPLICE.search(text):
        raise Trick("a line ending in a backslash", splice.start())
    for trigraph in re.finditer(r"\?\?[=/'()!<>-]", text):
        raise Trick(f"the trigraph {trigraph[0]}", trigraph.start())
    found: list[Token] = []
    at, line_start = 0, True
    while at < len(text):
        if space := _SPACE.match(text, at):
            if not trusted:
                check_characters(space[0], at)
            line_start = line_start or "\n" in space[0]
            at = space.end()
            continue
        if text.startswith(("//", "/*"), at):
            end = _comment_end(text, at)
            if not trusted:
                check_characters(text[at:end], at, comment=True)
            at = end
            continue
        token = _directive(text, at) if text[at] == "#" and line_start else _token(text, at)
        if not trusted:
            check_characters(token.text, at)
        line_start = False
        found.append(token)
        at += len(token.text)
    return found


def _comment_end(text: str, at: int) -> int:
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    end = text.find("*/", at + 2)
    if end < 0:
        raise Trick("a comment that does not end", at)
    return end + 2


def _directive(text: str, at: int) -> Token:
    end = text.find("\n", at)
    line = text[at : len(text) if end < 0 else end].rstrip("\r")
    # A comment that begins in a directive may go on behind its line.
    if (comment := line.find("/*")) >= 0 and "*/" not in line[comment:]:
        raise Trick("a comment that begins in a preprocessor line", at + comment)
    return Token("directive", line, at)


def _token(text: str, at: int) -> Token:
    if text.startswith(_DIGRAPHS, at) and not text.startswith("<::", at):
        raise Trick(f"the digraph {text[at : at + 2]}", at)
    for kind, pattern in (
        ("name", _NAME), ("number", _NUMBER), ("string", _STRING), ("character", _CHARACTER)
    ):  # fmt: skip
        match = pattern.match(text, at)
        if match is None:
            continue
        if kind == "name" and text[match.end() : match.end() + 1] == '"':
            if match[0] in ("R", "LR", "uR", "UR", "u8R"):
                raise Trick("a raw string", at)
            if match[0] not in ("L", "u", "U", "u8"):
                raise Trick("a string with an unknown prefix", at)
        return Token(kind, match[0], at)  # type: ignore[arg-type]
    if text[at] in "\"'":
        raise Trick("a string or character that does not end", at)
    if text[at] in "\\@`":
        raise Trick(f"a stray {text[at]}", at)
    mark = next((mark for mark in PUNCTUATION if text.startswith(mark, at)), text[at])
    return Token("punctuation", mark, at)


def check_balance(found: Sequence[Token]) -> None:
    """Brackets nest, and the first brace at depth 0 closes with the very last token."""
    stack: list[Token] = []
    opened = False
    for index, token in enumerate(found):
        if token.kind != "punctuation":
            continue
        if token.text in OPEN:
            opened = opened or (token.text == "{" and not stack)
            stack.append(token)
        elif token.text in CLOSE:
            if not stack or OPEN.index(stack[-1].text) != CLOSE.index(token.text):
                raise Trick(f"a {token.text} without its {OPEN[CLOSE.index(token.text)]}",
                            token.offset)  # fmt: skip
            stack.pop()
            if opened and not stack and token.text == "}" and index + 1 < len(found):
                raise Trick("code after the kernel's closing brace", found[index + 1].offset)
    if stack:
        raise Trick(f"a {stack[-1].text} that is not closed", stack[-1].offset)
    if not opened:
        raise Trick("no body", 0)


def statement_end(found: Sequence[Token], at: int) -> int:
    """The index past the statement that begins at `at`."""
    while at < len(found) and found[at].kind == "directive":
        at += 1
    if at >= len(found):
        return at
    text = found[at].text
    if text == "{":
        return bracket_end(found, at)
    if text in ("for", "while", "switch"):
        return statement_end(found, bracket_end(found, at + 1))
    if text == "do":
        end = statement_end(found, at + 1)  # at `while`
        return bracket_end(found, end + 1) + 1
    if text == "if":
        at += 1 + (at + 1 < len(found) and found[at + 1].text == "constexpr")
        end = statement_end(found, bracket_end(found, at))
        if end < len(found) and found[end].text == "else":
            return statement_end(found, end + 1)
        return end
    depth = 0
    while at < len(found):
        if found[at].kind == "punctuation":
            depth += (found[at].text in OPEN) - (found[at].text in CLOSE)
            if found[at].text == ";" and depth == 0:
                return at + 1
        at += 1
    return at


def bracket_end(found: Sequence[Token], at: int) -> int:
    """The index past the bracket that closes the one at `at`."""
    depth = 0
    while at < len(found):
        if found[at].kind == "punctuation":
            depth += (found[at].text in OPEN) - (found[at].text in CLOSE)
        at += 1
        if depth <= 0:
            break
    return at
