import {
  type AnonymousFunctionDeclaration,
  type AnyNode,
  type ArrowFunctionExpression,
  type FunctionDeclaration,
  type FunctionExpression,
  parseExpressionAt,
} from 'acorn';

type FunctionNode = AnonymousFunctionDeclaration | ArrowFunctionExpression | FunctionDeclaration | FunctionExpression;

/** The forms in which a function can be written: alone, as a method of an object, or of a class. */
const FORMS = [
  (source: string) => `(${source})`,
  (source: string) => `({${source}})`,
  (source: string) => `(class{${source}})`,
];

/** True if a function declares a third parameter, or uses `arguments`. Throws if its source cannot be read. */
export function declaresCallback(source: string): boolean {
  for (const form of FORMS) {
    let functionNode: FunctionNode | undefined;
    try {
      const options = { ecmaVersion: 'latest', allowSuperOutsideMethod: true } as const;
      // as: its type leaves out which nodes there are
      const program = parseExpressionAt(form(source), 0, options) as AnyNode;
      functionNode = firstFunctionIn(program);
    } catch {
      continue; // It was written in another form.
    }
    if (!functionNode) continue;
    const parts = [...functionNode.params, functionNode.body];
    return (
      functionNode.params.length >= 3 ||
      functionNode.params.at(-1)?.type === 'RestElement' ||
      parts.some((part) => usesArguments(part))
    );
  }
  throw new Error('there is no source to read');
}

/** True if the code uses the `arguments` of the function around it. Only arrow functions inside share them. */
function usesArguments(node: AnyNode): boolean {
  if (node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression') return false;
  if (node.type === 'Identifier') return node.name === 'arguments';
  return Object.entries(node)
    .filter(([name]) => (name !== 'property' && name !== 'key') || ('computed' in node && node.computed))
    .flatMap(([, value]) => value)
    .some((value) => isNode(value) && usesArguments(value));
}

function firstFunctionIn(node: AnyNode): FunctionNode | undefined {
  if (isFunction(node)) return node;
  for (const value of Object.values(node).flat()) {
    const inner = isNode(value) ? firstFunctionIn(value) : undefined;
    if (inner) return inner;
  }
  return undefined;
}

function isFunction(node: AnyNode): node is FunctionNode {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type);
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
