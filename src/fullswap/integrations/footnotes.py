"""What a wrapper's certificate is about: it shows means, and guarantees something else."""

from __future__ import annotations

from dataclasses import replace

from fullswap.certificates import Certificate, Subject


def about_means(certificate: Certificate, shown_by: str) -> Certificate:
    """The same certificate, with a last line that says what it does not cover."""
    if certificate.subject == Subject.VECTORS:  # one for each event: that is what is shown
        return certificate
    whose = "the distributions that learning was about"
    if certificate.subject == Subject.ISSUED:
        whose = "the draws that learning made for itself"
    return replace(certificate, about=f"About {whose}, not the means that {shown_by} shows.")
