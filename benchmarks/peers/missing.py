"""The one way a peer says that it is not there."""


class PeerMissingError(Exception):
    """The peer is not installed; the message says what is missing and how to get it."""
