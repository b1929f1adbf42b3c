import type { DecidedDestination } from './connection-record.ts';
import { findResolver, type Query } from './looked-up-names.ts';
import type { OutboundConnections } from './outbound-connections.ts';
import { ruleError } from './rule-error.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const { apply } = Reflect;
const { nextTick } = process;

/** Look-ups of addresses precede connections, which are recorded and follow the rules by the name that was looked up. */
const QUERY = /^(query(?!A$|Aaaa$)|getHostByAddr$)/;
const DNS_PORT = 53;
/** Node tells no sizes of look-ups. */
const NO_BYTES = { sentBytes: 0, receivedBytes: 0 };
/** The labels of a service, such as `_mongodb._tcp.`, before the name of its host. */
const SERVICE_LABELS = /^(_[^.]+\.)+/;
/** The name server has responded that there is no such record. */
const NEGATIVE_RESPONSES: readonly unknown[] = ['ENODATA', 'ENOTFOUND'];

/** Applies outbound rules to look-ups of DNS records other than addresses, such as those of mail servers, and reports them. */
export function ruleQueries(
  decide: (query: { host: string; port: number; query: string }) => DecidedDestination | undefined,
  connections: OutboundConnections,
): void {
  const prototype = findResolver()?.ChannelWrap.prototype;
  if (!prototype) return;
  for (const method of Object.getOwnPropertyNames(prototype).filter((name) => QUERY.test(name))) {
    const query = prototype[method] as Query; // one of its names
    prototype[method] = new Proxy(query, {
      apply: (lookUp, channel, args: Parameters<Query>) => {
        const [request, name] = args;
        const decided = decide({ host: name.replace(SERVICE_LABELS, ''), port: DNS_PORT, query: method });
        if (!decided) return apply(lookUp, channel, args);
        const { verdict } = decided;
        const target = { ...decided.target, ...(method === 'getHostByAddr' && { hostname: name }) };
        const error = verdict && ruleError(verdict, target);
        const { record, close } = connections.open('dns', { target, verdict }, () => NO_BYTES);
        if (error) {
          record.fail(error);
          close();
          nextTick(() => (request.reject ?? request.callback)?.(error));
          return 0;
        }
        record.isConnected = true;
        record.start();
        const { oncomplete } = request;
        request.oncomplete = (...answer) => {
          const [code] = answer;
          if (code && !NEGATIVE_RESPONSES.includes(code)) record.fail(new Error(`${method} ${String(code)} ${name}`));
          close();
          return apply(oncomplete, request, answer);
        };
        const failure = apply(lookUp, channel, args);
        if (failure) {
          record.isConnected = false;
          record.fail(new Error(`${method} could not be sent for ${name}`));
          close();
        }
        return failure;
      },
    });
  }
}
