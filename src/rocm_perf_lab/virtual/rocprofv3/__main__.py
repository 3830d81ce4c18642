"""`python -m rocm_perf_lab.virtual.rocprofv3`: rocprofv3 for the virtual GPU."""

from __future__ import annotations

import gc
import os
import signal
import sys

from rocm_perf_lab import __version__
from rocm_perf_lab.errors import PerfLabError
from rocm_perf_lab.virtual.rocprofv3 import options


def main(argv: list[str]) -> int:
    own = argv[: argv.index("--")] if "--" in argv else argv
    if "--version" in own or "-v" in own:
        print(f"             version: {options.SDK_VERSION}")
        print(f"        rocm_version: {options.ROCM_VERSION}")
        print(f"       rocm_perf_lab: {__version__} (stand-in for the virtual GPU)")
        return 0
    if "--help" in own or "-h" in own or not argv:
        options.parser().print_help()
        return 0
    try:
        command = options.parse(argv)
        # Records are made once and kept: looking for cycles among millions of them finds none.
        gc.disable()
        # Only now: --version and --help are asked before every profile.
        from rocm_perf_lab.virtual.rocprofv3 import runner

        code = runner.run(command, lambda text: print(f"rocprofv3: {text}", file=sys.stderr))
    except PerfLabError as error:
        print(f"rocprofv3: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"  {error.hint}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("rocprofv3: interrupted", file=sys.stderr)
        return 130
    if code < 0:
        # Ended by a signal: so is this process, for whoever waits for it.
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
