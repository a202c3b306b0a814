"""Adapters to other libraries, one module each; each needs the extra of its name.

``fullswap.integrations.sklearn`` needs ``fullswap[sklearn]``, ``fullswap.integrations.river``
needs ``fullswap[river]``, ``fullswap.integrations.spark`` needs ``fullswap[spark]`` and Java.
Nothing here is imported with the package itself.
"""
