"""Numbers and strings of DWARF sections, read one after the other."""

from __future__ import annotations

import struct


class Reader:
    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def take(self, code: str) -> int:
        (value,) = struct.unpack_from("<" + code, self.data, self.at)
        self.at += struct.calcsize("<" + code)
        return int(value)

    def uleb(self) -> int:
        return self._leb()[0]

    def sleb(self) -> int:
        value, bits = self._leb()
        return value - (1 << bits) if value >> (bits - 1) else value

    def _leb(self) -> tuple[int, int]:
        """Seven bits a byte, the least first: the number, and how many bits it has."""
        value = bits = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << bits
            bits += 7
            if byte < 128:
                return value, bits

    def string(self) -> str:
        end = self.data.index(b"\0", self.at)
        text = self.data[self.at : end].decode("utf-8", "replace")
        self.at = end + 1
        return text
