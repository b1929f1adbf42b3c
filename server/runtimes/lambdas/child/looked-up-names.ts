// Captured at start, because a lambda may replace the globals of its own process.
const { apply } = Reflect;

const MAX_NAMES = 1_000;
/** Addresses of this network are for tests of devices, and no host of the Internet has one (RFC 2544). */
const PLACEHOLDER_NETWORK = '198.18.';

interface LookupRequest {
  oncomplete(...args: unknown[]): unknown;
  callback?(error: Error): void;
  /** In place of `callback`, for a promise. */
  reject?(error: Error): void;
}
export type Query = (request: LookupRequest, name: string, ...rest: unknown[]) => unknown;
/** The functions of Node that all name lookups use; Node's types leave them out. */
interface Resolver {
  getaddrinfo: Query;
  ChannelWrap: { prototype: Record<string, Query> & Record<'queryA' | 'queryAaaa' | 'queryAny', Query> };
}

/**
 * Remembers by which name a lambda has looked up an address. It works below all functions of node:dns, because importing them may
 * bypass `require`, and because most lambdas never load that module.
 */
export class LookedUpNames {
  readonly #names = new Map<string, string>();
  readonly #placeholders = new Map<string, string>();
  #placeholderCount = 0;
  /** True to answer look-ups of unknown names with a placeholder: libraries such as nodemailer look up a host that a mock replaces. */
  usesPlaceholders = false;

  install(): void {
    const resolver = findResolver();
    if (!resolver) return;
    resolver.getaddrinfo = this.#remembering(resolver.getaddrinfo);
    const { prototype } = resolver.ChannelWrap;
    for (const name of ['queryA', 'queryAaaa', 'queryAny'] as const)
      prototype[name] = this.#remembering(prototype[name], name === 'queryA');
  }

  readonly find = (address: string): string | undefined => this.#names.get(address);

  isPlaceholder(address: string): boolean {
    return address.startsWith(PLACEHOLDER_NETWORK) && this.#placeholders.get(this.find(address) ?? '') === address;
  }

  /** The placeholder of a name that does not exist; the same one each time. */
  #placeholderOf(writtenName: string): string {
    const name = canonicalName(writtenName);
    const placeholder = this.#placeholders.get(name);
    if (placeholder !== undefined) return placeholder;
    const index = this.#placeholderCount++ % MAX_NAMES;
    const address = `${PLACEHOLDER_NETWORK}${Math.trunc(index / 250)}.${1 + (index % 250)}`;
    this.#placeholders.set(name, address);
    // The oldest name has the address that is used again next.
    const [oldest] = this.#placeholders.keys();
    if (this.#placeholders.size > MAX_NAMES && oldest !== undefined) this.#placeholders.delete(oldest);
    return address;
  }

  #remembering(query: Query, canHavePlaceholder = false): Query {
    return new Proxy(query, {
      apply: (lookUp, self, args: Parameters<Query>) => {
        const [request, name] = args;
        const { oncomplete } = request;
        const complete = (...answer: unknown[]): unknown => {
          const [, addresses] = answer;
          if (Array.isArray(addresses)) for (const address of addresses) this.#remember(address, name);
          return apply(oncomplete, request, answer);
        };
        request.oncomplete = (...answer) => {
          if (!answer[0] || !canHavePlaceholder || !this.usesPlaceholders) return complete(...answer);
          // A name that DNS does not know can be in the file of hosts, as `localhost` is: clients look it up there next.
          const { lookup } = require('node:dns') as typeof import('node:dns');
          lookup(name, (error) => {
            if (error) complete(null, [this.#placeholderOf(name)], [0]);
            else complete(...answer);
          });
        };
        return apply(lookUp, self, args);
      },
    });
  }

  /** @param record an address, or a DNS record that may have one */
  #remember(record: unknown, name: string): void {
    const address = typeof record === 'string' ? record : (record as { address?: unknown } | null)?.address;
    if (typeof address !== 'string') return;
    this.#names.delete(address);
    this.#names.set(address, canonicalName(name));
    const [oldest] = this.#names.keys();
    if (this.#names.size > MAX_NAMES && oldest !== undefined) this.#names.delete(oldest);
  }
}

function canonicalName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

export function findResolver(): Resolver | undefined {
  const { noDeprecation } = process;
  process.noDeprecation = true;
  try {
    // As: deprecated and without types, and the only way to see lookups by ES modules.
    return (process as unknown as { binding(name: string): Resolver }).binding('cares_wrap');
  } catch {
    return undefined;
  } finally {
    if (noDeprecation === undefined) Reflect.deleteProperty(process, 'noDeprecation');
    else process.noDeprecation = noDeprecation;
  }
}
