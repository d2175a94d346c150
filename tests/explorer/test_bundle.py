"""ES modules as one script, read by hand; the browser's tests run it."""

import pytest

from pcn.explorer.bundle import bundled


def test_modules_come_after_what_they_import_and_once():
    script = bundled(
        {
            "main.js": "import { a } from './a.js';\nimport { b } from './b.js';\nrun(a, b);",
            "a.js": "import { b } from './b.js';\nexport const a = b + 1;",
            "b.js": "export const b = 1;",
            "unused.js": "export const nothing = 0;",
        }
    )
    order = [script.index(f"const module_{name} =") for name in ("b", "a", "main")]
    assert order == sorted(order)
    assert script.count("const b = 1;") == 1
    assert "nothing" not in script


def test_imports_may_span_lines_and_rename():
    script = bundled(
        {
            "main.js": "import {\n  one,\n  two as deux,\n} from './some-numbers.js';\nuse(deux);",
            "some-numbers.js": "const one = 1;\nconst zwei = 2;\nexport { one, zwei as two };\n",
        }
    )
    assert "const { one, two: deux } = module_some_numbers;" in script
    assert "return { one, two: zwei };" in script


def test_every_kind_of_export_is_returned():
    source = (
        "export function f() {}\nexport async function g() {}\nexport class C {}\n"
        "export const K = 3;\nimport './side.js';\n"
    )
    script = bundled({"main.js": source, "side.js": "effect();"})
    assert "return { f, g, C, K };" in script
    assert "async function g() {}" in script
    assert "export" not in script
    assert script.index("effect();") < script.index("function f()")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("export default 3;", "main.js: the bundle does not understand 'export default 3;'"),
        ("export let a = 3;", "export let a"),
        ("import * as all from './a.js';", r"import \* as all"),
        ("import a from './a.js';", "import a from"),
        ("import { a } from 'https://elsewhere/a.js';", "elsewhere"),
        ("const a = await import('./a.js');", "import"),
        ("console.log(import.meta.url);", "import.meta"),
        ("import { a } from './nothing.js';", "main.js imports nothing.js, which does not exist"),
        ("import { a } from './a.js';", "in a circle: main.js -> a.js -> main.js"),
    ],
)
def test_what_is_not_understood_is_named(source, told):
    modules = {"main.js": source, "a.js": "import { b } from './main.js';\nexport const a = 1;"}
    with pytest.raises(ValueError, match=told):
        bundled(modules)
