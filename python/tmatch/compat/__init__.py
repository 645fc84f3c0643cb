# SPDX-License-Identifier: MIT
"""tmatch by the names, arguments and results of other packages, which need not be installed.

tmatch.compat.cv2        matchTemplate of OpenCV
tmatch.compat.skimage    match_template of scikit-image
tmatch.compat.pyscreeze  locate and locateAll of PyScreeze, and so of PyAutoGUI

These modules need NumPy. docs/guide/from-python.md says where results differ.
"""
