"""Every error airtoll raises on purpose.

Takes nothing, gives the exception tree below, never imports another part of airtoll.

    AirtollError                exit 1
    ├── RequirementFailed       exit 1   a requirement of a gate that a run does not meet
    ├── UsageError              exit 2   an invalid argument
    ├── StudyError              exit 2   an invalid study file
    ├── PolicyError             exit 2   an unknown policy, or one that cannot be composed
    ├── ProfileError            exit 2   an unknown or malformed device profile
    ├── DatasetError            exit 2   a data set that is missing or malformed
    ├── CaptureError            exit 2   a file that is no capture
    ├── RunError                exit 3   a run that could not be finished; finished trials are kept
    │   ├── PartlyRead          exit 3   files of several that cannot be read; the others count
    │   └── StorageError        exit 3   a folder or file that is damaged, held or no run folder
    │       └── DiskRefused     exit 3   the disk refused (full, read-only, no such folder)
    ├── TestbedError            exit 4   a testbed that failed after its check had passed
    │   ├── TrialFault          exit 4   a trial that failed inside; the others go on
    │   └── EnvironmentProblem  exit 4   a tool, module or right that is missing
    ├── NotMeasured             exit 5   no answer: not measured, or too few trials to tell
    └── Interrupted             exit 130 stopped by the user; resumable

The message is one line. It names the file, key or host and says what to do.
"""

from __future__ import annotations


class AirtollError(Exception):
    """Base of all errors that airtoll raises on purpose.

    ``exit_code`` is what the command line returns for it.
    """

    exit_code = 1

    def __str__(self) -> str:
        """The message as one printable line, whatever a file or a name in it holds."""
        return "".join(c if c.isprintable() else "?" for c in super().__str__())


class RequirementFailed(AirtollError):
    """A gate with a requirement that a run does not meet; the message counts them."""

    exit_code = 1


class UsageError(AirtollError):
    """An invalid argument; the message names the argument, its value and the allowed values."""

    exit_code = 2


class StudyError(AirtollError):
    """An invalid study file; the message names file, key path, value and allowed values."""

    exit_code = 2


class PolicyError(AirtollError):
    """An unknown policy, or policies that cannot be composed."""

    exit_code = 2


class ProfileError(AirtollError):
    """An unknown or malformed device profile."""

    exit_code = 2


class DatasetError(AirtollError):
    """A data set that is missing or malformed."""

    exit_code = 2


class CaptureError(AirtollError):
    """A file that is no capture."""

    exit_code = 2


class RunError(AirtollError):
    """A run that could not be finished; finished trials are kept."""

    exit_code = 3


class PartlyRead(RunError):
    """Files of several that cannot be read; the others count. The message names each."""

    exit_code = 3


class AllSkipped(RunError):
    """The testbed carries out no cell of a plan; the message names the first reason."""

    exit_code = 3


class StorageError(RunError):
    """A file or folder that cannot be used: damaged, held by another process, no run folder."""

    exit_code = 3


class DiskRefused(StorageError):
    """The disk refused: full, read-only, no such folder. An earlier file stays."""

    exit_code = 3


class TestbedError(AirtollError):
    """A testbed that failed after its check had passed."""

    __test__ = False
    exit_code = 4


class TrialFault(TestbedError):
    """A trial that failed inside, at a fault of airtoll: it says nothing of its policy.

    It fails alone: the other trials of a run go on.
    """

    exit_code = 4


class EnvironmentProblem(TestbedError):
    """A missing tool, kernel module or right; the message names the command that fixes it."""

    exit_code = 4


class NotMeasured(AirtollError):
    """No answer: something was not measured, or too few trials tell it; the message says which."""

    exit_code = 5


class Interrupted(AirtollError):
    """Stopped by the user; the run can be resumed."""

    exit_code = 130
