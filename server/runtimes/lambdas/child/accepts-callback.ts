// Captured at start, because a lambda may replace the globals of its own process.
const { apply } = Reflect;
const { toString: sourceOf } = Function.prototype;

/** Source that needs no parser: up to two plain parameters. Then only `arguments` in it decides. */
const PLAIN =
  /^(async\s+)?(function\s*[\w$]*\s*\(\s*([\w$]+\s*(,\s*[\w$]+\s*)?)?\)\s*\{|(\(\s*([\w$]+\s*(,\s*[\w$]+\s*)?)?\)|[\w$]+)\s*=>)/;

/** Can the handler call back (D-138): has it a third parameter, a rest, or `arguments`, or no source to read? */
export function acceptsCallback(
  handler: (...args: never[]) => unknown,
  parser: () => Pick<typeof import('./source-hints.ts'), 'declaresCallback'>,
): boolean {
  try {
    if (handler.length >= 3) return true;
    const source = apply(sourceOf, handler, []);
    if (PLAIN.test(source) && !/arguments|\[native code\]/.test(source)) return false;
    return parser().declaresCallback(source);
  } catch {
    // It cannot be read.
    return true;
  }
}
