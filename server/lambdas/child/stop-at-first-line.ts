import type { Handler } from './run-handler.ts';

/** By this name the inspector is handed the handler. */
const HANDED_OVER = '__terrariumHandler';

/**
 * Has whoever debugs this process stand at the handler's first line when it is called next. Without a debugger nothing stops: a
 * session of the process' own holds nobody up.
 *
 * @returns takes the breakpoint away again
 */
export function stopAtFirstLine({ own }: Handler): () => void {
  // Here, not at the top: no other lambda needs it.
  const { Session } = require('node:inspector') as typeof import('node:inspector');
  const session = new Session();
  session.connect();
  session.post('Debugger.enable');
  Object.defineProperty(globalThis, HANDED_OVER, { value: own, configurable: true });
  session.post('Runtime.evaluate', { expression: `globalThis.${HANDED_OVER}` }, (_error, answer) => {
    const objectId = answer?.result?.objectId;
    // As: the inspector knows it, Node's types do not.
    const stop = 'Debugger.setBreakpointOnFunctionCall' as 'Debugger.setBreakpoint';
    if (objectId !== undefined) session.post(stop, { objectId } as never);
  });
  Reflect.deleteProperty(globalThis, HANDED_OVER);
  return () => session.disconnect();
}
