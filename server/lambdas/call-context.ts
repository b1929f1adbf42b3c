import type { CallContext } from '../model/invocation.ts';
import type { CallPlace, InvokeHead } from './protocol.ts';

/** As a process is given it, but for what is another in every call. */
interface Prepared {
  lambdaId: string;
  lambdaName: string;
  text: string;
}

/** Calls that come over one connection often share their context. */
const prepared = new WeakMap<CallContext, Prepared>();

/**
 * JSON of members of an `InvokeHead`: those that follow from a call's context and its lambda. Made once for calls that share them, since
 * a context is JSON within JSON: nobody but the handler reads it.
 */
export function contextMembers(context: CallContext, lambda: { readonly id: string; readonly name: string }): string {
  const known = prepared.get(context);
  if (known?.lambdaId === lambda.id && known.lambdaName === lambda.name) return known.text;
  const { httpAware, apiEndpointId } = context;
  const place: CallPlace = { httpAware, apiEndpointId };
  const members: Pick<InvokeHead, 'place' | 'context' | 'lambda'> = {
    place,
    context: JSON.stringify(context).slice(0, -1),
    lambda: JSON.stringify({ lambdaId: lambda.id, lambdaName: lambda.name }).slice(1, -1),
  };
  const text = JSON.stringify(members).slice(1, -1);
  prepared.set(context, { lambdaId: lambda.id, lambdaName: lambda.name, text });
  return text;
}
