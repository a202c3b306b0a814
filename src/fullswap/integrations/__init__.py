"""Adapters to other libraries, one module each; each needs the extra of its name.

``fullswap.integrations.sklearn`` needs ``fullswap[sklearn]``, ``fullswap.integrations.river``
needs ``fullswap[river]``. Nothing here is imported with the package itself.
"""
