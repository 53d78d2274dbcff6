"""Alerts of trouble in a laboratory: a web hook and mail.

Takes a text; sends it to the receivers of the lab file. A receiver that does not take it never
ends a run: the failure is returned as a text.
"""

from __future__ import annotations

import smtplib
import urllib.error
import urllib.request
from email.message import EmailMessage
from typing import Final

from airtoll.testbeds.linux.laboratory.lab import Alert

_LIMIT_S: Final = 20.0


def send(alert: Alert, subject: str, text: str) -> list[str]:
    """Tell all receivers; gives one line for each that was not reached."""
    failed = []
    if alert.url is not None:
        request = urllib.request.Request(
            alert.url,
            data=f"{subject}\n{text}\n".encode(),
            headers={"Content-Type": "text/plain; charset=utf-8"},
            method="POST",
        )
        try:
            with urllib.request.urlopen(request, timeout=_LIMIT_S):
                pass
        except (urllib.error.URLError, OSError, ValueError) as error:
            failed.append(f"{alert.url}: {getattr(error, 'reason', error)}")
    if alert.mail is not None:
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = alert.sender, alert.mail, subject
        message.set_content(text)
        host, _, port = alert.smtp.partition(":")
        try:
            with smtplib.SMTP(host, int(port or 25), timeout=_LIMIT_S) as server:
                server.send_message(message)
        except (smtplib.SMTPException, OSError) as error:
            failed.append(f"{alert.smtp}: {error}")
    return failed
