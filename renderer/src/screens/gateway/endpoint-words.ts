import { memberOf } from '../../../../server/model/json.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { counted } from '../../components/amounts.ts';

export interface EndpointWords {
  methods: string;
  hosts: readonly string[];
  /** A text that says who may call it. */
  access: string;
  isAsynchronous: boolean;
}

/** A brand's key of the security plugin: `platformSecurity`, or another word before it. */
const SECURITY_KEY = /^[a-z]+Security$/;

/** The key of an endpoint's access control among its plugins; for one without, the key to set. */
export const securityKeyIn = (plugins: unknown): string =>
  Object.keys(Object(plugins)).find((name) => SECURITY_KEY.test(name)) ?? 'platformSecurity';

export function endpointWords({ properties }: PlatformRecord): EndpointWords {
  const methods = textsIn(properties.methods);
  return {
    methods: methods.length > 0 ? methods.join(' ') : 'any',
    hosts: textsIn(properties.hosts),
    access: accessOf(properties),
    isAsynchronous: properties.synchronous === false,
  };
}

function accessOf({ plugins, whitelist }: PlatformRecord['properties']): string {
  const addresses = textsIn(whitelist).length;
  const from = addresses === 0 ? '' : ` from ${counted(addresses, 'address', 'addresses')}`;
  const security = memberOf(plugins, securityKeyIn(plugins));
  if (memberOf(security, 'enabled') !== true) return `everyone${from}`;
  const named = (['user', 'group'] as const).flatMap((noun) => {
    const { length } = textsIn(memberOf(security, `${noun}s`));
    return length > 0 ? [counted(length, noun)] : [];
  });
  return `${named.length > 0 ? named.join(', ') : 'signed-in users'}${from}`;
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}
