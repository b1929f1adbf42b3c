import type { AnonymousFunctionDeclaration, Node } from 'acorn';

// Taken at start: a lambda may replace what is global in its own process.
const { apply } = Reflect;
const { toString: sourceOf } = Function.prototype;

/** Of a source that needs no parser: up to two plain parameters. All that is to be known then is whether it says `arguments`. */
const PLAIN =
  /^(async\s+)?(function\s*[\w$]*\s*\(\s*([\w$]+\s*(,\s*[\w$]+\s*)?)?\)\s*\{|(\(\s*([\w$]+\s*(,\s*[\w$]+\s*)?)?\)|[\w$]+)\s*=>)/;

/** Where a function can have been written: alone, as a method of an object or of a class. */
const PLACES = [
  (source: string) => `(${source})`,
  (source: string) => `({${source}})`,
  (source: string) => `(class{${source}})`,
];

/**
 * Can the handler call back (D-138)? It can when its source declares a third parameter, with or without a default, by
 * destructuring or by rest; when it uses `arguments`; and when there is no source to read (bound, native, a Proxy).
 *
 * @param parser loads what few handlers need
 */
export function canCallBack(handler: (...args: never[]) => unknown, parser: () => FunctionParser): boolean {
  try {
    if (handler.length >= 3) return true;
    const source = apply(sourceOf, handler, []);
    if (PLAIN.test(source) && !/arguments|\[native code\]/.test(source)) return false;
    const { params, ...rest } = parsed(source, parser());
    return params.length >= 3 || params.at(-1)?.type === 'RestElement' || usesArguments([params, rest]);
  } catch {
    // It cannot be read.
    return true;
  }
}

/** That of acorn. */
export type FunctionParser = Pick<typeof import('acorn'), 'parseExpressionAt'>;

type Read = Pick<AnonymousFunctionDeclaration, 'params'> & Node;

function parsed(source: string, { parseExpressionAt }: FunctionParser): Read {
  for (const place of PLACES) {
    let read: Read | undefined;
    try {
      read = firstFunction(
        parseExpressionAt(place(source), 0, { ecmaVersion: 'latest', allowSuperOutsideMethod: true }),
      );
    } catch {
      // It was written in another place.
    }
    if (read) return read;
  }
  throw new Error('there is no source to read');
}

/** The outermost function of a tree. */
function firstFunction(node: Node): Read | undefined {
  if (isFunction(node)) return node;
  for (const child of childrenOf(node)) {
    const found = firstFunction(child);
    if (found) return found;
  }
  return undefined;
}

/** Do these parts of a function say `arguments` and mean its own? Only arrow functions inside share them. */
function usesArguments(part: unknown): boolean {
  if (Array.isArray(part)) return part.some(usesArguments);
  if (typeof part !== 'object' || part === null) return false;
  const inner = childrenOf(part).filter((child) => !isFunction(child) || isArrow(child));
  return ('name' in part && part.name === 'arguments') || inner.some(usesArguments);
}

function isFunction(node: Node): node is Read {
  return node.type === 'FunctionExpression' || node.type === 'FunctionDeclaration' || isArrow(node);
}

function isArrow(node: Node): boolean {
  return node.type === 'ArrowFunctionExpression';
}

/** What a name after a dot, or before a colon, is called is of no matter. */
function childrenOf(node: object): Node[] {
  const isComputed = 'computed' in node && node.computed;
  return Object.entries(node)
    .filter(([key]) => isComputed || (key !== 'property' && key !== 'key'))
    .flatMap(([, value]: [string, unknown]) => value)
    .filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
