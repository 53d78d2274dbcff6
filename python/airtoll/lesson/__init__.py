"""A folder for a class hour: tasks, their solutions, a capture with its keys, the playground.

Takes a seed and a policy; gives files that open without a network. Every number of the solutions
comes from a trial with that seed.
"""

from airtoll.lesson.folder import PAGE, Lesson, write_lesson
from airtoll.lesson.sheet import html, markdown
from airtoll.lesson.tasks import Blank, Task, tasks

__all__ = ["PAGE", "Blank", "Lesson", "Task", "html", "markdown", "tasks", "write_lesson"]
