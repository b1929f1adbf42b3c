// Captured at start, because a lambda may replace the globals of its own process.
const { apply } = Reflect;
const { toString: sourceOf } = Function.prototype;

/** Source whose `length` counts all parameters, because none has a default and none is a rest. Then only `arguments` in it decides. */
const EXACT_LENGTH = /^(async\b\s*)?(function\b\s*)?\*?\s*([\w$]*\s*\(([^()=.'"`/]|\n)*\)\s*(\{|=>)|[\w$]+\s*=>)/;

/** Can the handler call back (D-138): has it a third parameter, a rest, or `arguments`, or no source to read? */
export function acceptsCallback(
  handler: (...args: never[]) => unknown,
  parser: () => Pick<typeof import('./declares-callback.ts'), 'declaresCallback'>,
): boolean {
  try {
    if (handler.length >= 3) return true;
    const source = apply(sourceOf, handler, []);
    if (EXACT_LENGTH.test(source) && !/arguments|\[native code\]/.test(source)) return false;
    return parser().declaresCallback(source);
  } catch {
    // It cannot be read.
    return true;
  }
}
