# SPDX-License-Identifier: MIT
"""Plans for JAX."""
