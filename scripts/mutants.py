"""Small mistakes that somebody could make in a module: one comparison turned, one number off by one, one step left out."""

import ast
import copy
from collections.abc import Callable, Iterator
from typing import NamedTuple

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.RShift: ast.LShift,
    ast.LShift: ast.RShift,
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}

Change = Callable[[ast.AST], None]


class Mutant(NamedTuple):
    """A module with one mistake in it. `line` is the original's."""

    source: str
    line: int
    what: str


def mutants_of(source: str) -> Iterator[Mutant]:
    """Every mistake of a module, in the order of its lines."""
    tree = ast.parse(source)
    nodes = list(_live(tree))
    for place, node in enumerate(nodes):
        for what, change in _changes(node):
            changed = copy.deepcopy(tree)
            change(list(_live(changed))[place])
            yield Mutant(ast.unparse(ast.fix_missing_locations(changed)), getattr(node, "lineno", 0), what)


def _live(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run: no types, no texts for people, no checks that only a mistake of ours would fail."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, (ast.Assert, ast.JoinedStr, ast.TypeAlias)):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            yield child
            yield from _live(child)


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:  # noqa: C901 (one kind of mistake after another)
    """What can be done to one node, in words and as a function."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in _COMPARED:
            yield _told(node), _set("ops", [_COMPARED[type(op)]()])
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _COMPUTED:
            yield _told(node), _set("op", _COMPUTED[type(op)]())
        case ast.BoolOp(op=op):
            yield _told(node), _set("op", ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield _told(node), _set("operand", _negated(node.operand))
        case ast.Constant(value=bool(value)):
            yield _told(node), _set("value", not value)
        case ast.Constant(value=int(value)):
            yield _told(node), _set("value", value + 1)
        case ast.Call(func=ast.Name(id=name)) if name in _NAMES:
            yield _told(node), _set("func", ast.Name(_NAMES[name], ast.Load()))
        case ast.If() | ast.IfExp() | ast.While():
            yield f"turned: {ast.unparse(node.test)}", _set("test", _negated(node.test))
        case ast.Expr(value=ast.Call()):
            yield f"left out: {_told(node)}", _set("value", ast.Constant(None))
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield _told(node), _set("value", ast.Constant(None))
        case ast.comprehension(ifs=[test]):
            yield f"turned: if {ast.unparse(test)}", _set("ifs", [_negated(test)])


def _set(*changes: object) -> Change:
    """Give a node other fields: name, value, name, value ..."""

    def change(node: ast.AST) -> None:
        for name, value in zip(changes[::2], changes[1::2], strict=True):
            setattr(node, str(name), value)

    return change


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), copy.deepcopy(test))


def _told(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:100]
