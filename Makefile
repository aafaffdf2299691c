# The commands of the project. `make help` lists them.

# Any Python from 3.9 on starts setup; a name on the PATH may be a shim that fails, so each is tried.
BOOTSTRAP := $(shell for python in python3 python3.13 python3.12 python3.11 /usr/bin/python3 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 9))' >/dev/null 2>&1 && echo $$python && break; done)
PYTHON := .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help setup demo gallery ready-scenes tutorials recipes test test-faults test-gui fuzz build release cross-compile lint bench docs site thumbnails scene-pictures tutorial-pictures translations validate lock clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv ready: Python, locked packages, system libraries
	@test -n "$(BOOTSTRAP)" || { echo "setup: no working Python 3.9 or newer on the PATH; install python3." >&2; exit 1; }
	@$(BOOTSTRAP) tools/setup.py

demo: build ## bake and render the demonstration
	@$(PYTHON) demo/run.py demo

gallery: build ## bake and render every feature scene; GALLERY="drum fountain" for these alone
	@$(PYTHON) demo/run.py gallery $(GALLERY)

ready-scenes: build ## add, bake and render every ready scene as Draft; READY="snowball hourglass" for these alone
	@$(PYTHON) demo/run.py ready_scenes $(READY)

tutorials: setup ## perform and bake every tutorial of the manual, and check what comes out
	@MPM_ALL_TUTORIALS=1 MPM_TEST_HOST=bpy $(PYTHON) -m pytest tests/blender/test_tutorials.py

tutorial-pictures: setup ## perform the tutorials in a window of Blender 5.2, for the manual's pictures of their steps; needs what test-gui needs
	@$(PYTHON) -m tools.gui.tutorials --archive "$$($(PYTHON) tools/build_extension.py --python-tag cp314 | tail -1 | sed 's/^build: //; s/ (.*//')" $(TUTORIALS)

recipes: setup ## save the recipes of the manual as .blend files in build/recipes
	@$(PYTHON) demo/recipes.py

test: setup ## run every test
	@$(PYTHON) tools/run_tests.py

test-faults: setup ## kill bakes at random moments and damage caches; KILLS=1000 for more than 100
	@$(PYTHON) -m pytest tests/faults -s --kills $(or $(KILLS),100)

test-gui: setup ## walk through real windows of desktop Blender 5.2 and 4.3; says how to get these where they are missing
	@$(PYTHON) tools/run_tests.py --group gui -s

fuzz: setup ## read 10,000 wrong files of every format; FUZZ="--format mesh.obj --seed 7 --cases 1" for these alone
	@$(PYTHON) -m tests.fuzz $(FUZZ)

build: setup ## build the extension's zip for this platform into build/
	@$(PYTHON) tools/build_extension.py

release: setup ## build zips for all platforms and their checksums; SPLIT=1 for a zip for each Python, KERNELS=no for extensions.blender.org
	@$(PYTHON) tools/build_extension.py --release $(if $(SPLIT),--split-by-python) $(if $(filter no,$(KERNELS)),--without-kernels)

cross-compile: setup ## compile every kernel for Windows, macOS and arm64, which shows that machine code can be made for them
	@$(PYTHON) tools/cross_compile.py $(if $(ONLY),--only $(ONLY))

lint: setup ## check style, types and the direction of imports
	@$(PYTHON) tools/lint.py

bench: setup ## measure the speed and write docs/performance.md anew; BENCH=--quick for a try
	@$(PYTHON) -m benchmarks.run $(BENCH)

docs: setup ## write docs/materials.md, the list of all messages and the scripting reference anew from the source
	@$(PYTHON) tools/document_parameters.py
	@$(PYTHON) tools/document_messages.py
	@$(PYTHON) tools/document_scripting.py

site: setup ## make the manual's pages from docs/ into build/site
	@$(PYTHON) tools/site_pages.py

thumbnails: setup ## bake and render the pictures of the material presets; THUMBNAILS=snow for one
	@$(PYTHON) demo/run.py thumbnails $(THUMBNAILS)

scene-pictures: setup ## bake and draw the published scenes into docs/pictures/published
	@$(PYTHON) tools/scene_pictures.py

translations: setup ## bring the catalog of texts and all translations in mpm_addon/locale up to date
	@$(PYTHON) tools/extract_messages.py

validate: setup ## write the tables and figures of docs/validation.md anew; PART="floating bodies" for these alone
	@$(PYTHON) tools/validate.py $(PART)

lock: ## write locks/ anew from pyproject.toml
	@$(BOOTSTRAP) tools/lock.py

clean: ## remove what was built; environments and caches of bakes stay
	@rm -rf build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -path './.venv*' -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
