import { z } from 'zod';
import type { Uuid } from '../ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { validationMessage } from '../validation-message.ts';
import { brandKeys, findBrandKey, SECURITY_KEY } from './brand-keys.ts';

/** Ids of users or groups, kept in the letter case that was sent (D-120). */
const identities = z.array(z.guid('must be a UUID'));

const security = z.looseObject({
  enabled: z.boolean(),
  users: identities.optional(),
  groups: identities.optional(),
});

const rateLimit = z
  .looseObject({
    enabled: z.boolean(),
    perMinute: z.int().optional().describe('Requests a minute, at least 1 when enabled'),
  })
  .superRefine(({ enabled, perMinute }, context) => {
    if (!enabled || (perMinute !== undefined && perMinute >= 1)) return;
    const message = perMinute === undefined ? 'is required when the rate limit is enabled' : 'must be at least 1';
    context.addIssue({ code: 'custom', path: ['perMinute'], message });
  });

/** Schema of an endpoint's `plugins` (D-060): the three known ones, of which security may have any brand's key (D-083). */
export const pluginsSchema = z
  .looseObject({
    rateLimit: rateLimit.optional(),
    platformSecurity: security.optional(),
    cors: z.looseObject({ enabled: z.boolean().optional(), origins: z.array(z.string()).optional() }).optional(),
  })
  .superRefine((plugins, context) => {
    const keys = brandKeys(plugins, SECURITY_KEY);
    if (keys[1]) context.addIssue({ code: 'custom', path: [keys[1]], message: `means the same as ${keys[0]}` });
    for (const key of keys.filter((one) => one !== 'platformSecurity')) {
      for (const { path, message } of security.safeParse(plugins[key], { error: validationMessage }).error?.issues ??
        []) {
        context.addIssue({ code: 'custom', path: [key, ...path], message });
      }
    }
  });

/** The security plugin among an endpoint's properties, with the key it was sent under. */
function findSecurity(properties: JsonObject): { plugins: JsonObject; key: string; plugin: JsonObject } | undefined {
  const { plugins } = properties;
  if (!isJsonObject(plugins)) return undefined;
  const key = findBrandKey(plugins, SECURITY_KEY);
  const plugin = key === undefined ? undefined : plugins[key];
  return key !== undefined && isJsonObject(plugin) ? { plugins, key, plugin } : undefined;
}

function idsOf(list: Json | undefined): Uuid[] {
  return Array.isArray(list) ? list.flatMap((id) => (typeof id === 'string' ? id.toLowerCase() : [])) : [];
}

/** Users and groups that the security plugin lists (D-163). */
export function listedIdentities(properties: JsonObject): Uuid[] {
  const plugin = findSecurity(properties)?.plugin;
  return plugin ? [...idsOf(plugin.users), ...idsOf(plugin.groups)] : [];
}

/** The endpoint's properties without a user or group that is being deleted (D-072); undefined when it is not listed. */
export function withoutIdentity(properties: JsonObject, gone: Uuid): JsonObject | undefined {
  const found = findSecurity(properties);
  if (!found || !listedIdentities(properties).includes(gone)) return undefined;
  const { plugins, key, plugin } = found;
  const without = (list: Json | undefined) => idsOf(list).filter((id) => id !== gone);
  const rest = {
    ...(plugin.users !== undefined && { users: without(plugin.users) }),
    ...(plugin.groups !== undefined && { groups: without(plugin.groups) }),
  };
  return { ...properties, plugins: { ...plugins, [key]: { ...plugin, ...rest } } };
}
