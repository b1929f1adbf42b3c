import type { Agent, ClientRequest } from 'node:http';
import type { RequestHead } from '../../../model/crm-form.ts';

const { apply } = Reflect;
// Captured at start, because a lambda may replace the globals of its own process.
const { nextTick } = process;

type AddRequest = (this: Agent, request: ClientRequest, ...rest: unknown[]) => void;

/** As: what every agent is asked with for a connection; Node's types leave it out. */
interface RequestTaker {
  addRequest: AddRequest;
}

/** Gives a request that the mock CRM answers its own connection, made by `connecting`: it needs none to the host. */
export function divertHttpForms(
  isForm: (head: RequestHead) => boolean,
  connecting: <T>(head: RequestHead, make: () => T) => T,
): void {
  const http = require('node:http') as typeof import('node:http');
  const prototype = http.Agent.prototype as unknown as RequestTaker;
  const original = prototype.addRequest;
  prototype.addRequest = function (request, ...rest) {
    const contentType = request.getHeader('content-type');
    if (!isForm(headOf(request))) return apply(original, this, [request, ...rest]);
    const take = (): void => {
      const head = headOf(request);
      const connect = <T>(make: () => T): T => connecting(head, make);
      const taker = isForm(head) ? agentFor(request.protocol === 'https:', connect) : this;
      apply(original, taker, [request, ...rest]);
    };
    // Libraries set headers right after they have made a request.
    if (contentType === undefined) nextTick(take);
    else take();
  };
}

export function headOf(request: ClientRequest): RequestHead {
  const { method, protocol, path } = request;
  const contentType = request.getHeader('content-type');
  const host = String(request.getHeader('host') ?? request.host);
  const url = /^https?:/.test(path) ? path : `${protocol}//${host}${path}`;
  return { method, url, ...(contentType !== undefined && { contentType: String(contentType) }) };
}

function agentFor(isTls: boolean, connecting: <T>(make: () => T) => T): Agent {
  const { Agent: ProtocolAgent } = (isTls ? require('node:https') : require('node:http')) as typeof import('node:http');
  const agent = new ProtocolAgent();
  // As: the method with which an agent makes its connections; Node's types omit it.
  const maker = agent as unknown as { createConnection(...args: unknown[]): unknown };
  const { createConnection: make } = maker;
  maker.createConnection = (...args) => connecting(() => apply(make, agent, args));
  return agent;
}
