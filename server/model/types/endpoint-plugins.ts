import { z } from 'zod';
import { formFacts } from '../form-facts.ts';
import { aGroup, aUser, type ReferenceTarget, referenceFacts, spellings } from '../reference-facts.ts';
import { validationMessage } from '../validation-message.ts';
import { brandKeys, SECURITY_KEY } from './brand-keys.ts';

/** Ids of users or groups, kept in the letter case that was sent (D-120). */
function identities(to: ReferenceTarget) {
  return z.array(z.guid('must be a UUID').register(referenceFacts, { to, whenGone: 'forgets' }));
}

const security = z
  .looseObject({
    enabled: z.boolean(),
    users: identities(aUser).optional(),
    groups: identities(aGroup).optional(),
  })
  .register(spellings, { pattern: SECURITY_KEY.source });

const rateLimit = z
  .looseObject({
    enabled: z.boolean(),
    perMinute: z
      .int()
      .optional()
      .describe('Requests a minute, at least 1 when enabled')
      .register(formFacts, { label: 'Requests a minute' }),
  })
  .superRefine(({ enabled, perMinute }, context) => {
    if (!enabled || (perMinute !== undefined && perMinute >= 1)) return;
    const message = perMinute === undefined ? 'is required when the rate limit is enabled' : 'must be at least 1';
    context.addIssue({ code: 'custom', path: ['perMinute'], message });
  });

const cors = z
  .looseObject({
    enabled: z.boolean().optional(),
    origins: z.array(z.string()).optional().describe('The only origins whose pages may read answers; any unless given'),
    credentials: z.boolean().optional().describe('May they send cookies and passwords along? Needs origins by name'),
  })
  .superRefine(({ origins = [], credentials }, context) => {
    if (credentials !== true || (origins.length > 0 && !origins.includes('*'))) return;
    // Browsers take no credentials where any origin is allowed, and rightly so.
    const message = 'must name the origins that may send credentials';
    context.addIssue({ code: 'custom', path: ['origins'], message });
  });

/** Schema of an endpoint's `plugins` (D-060): the three known ones, of which security may have any brand's key (D-083). */
export const pluginsSchema = z
  .looseObject({
    rateLimit: rateLimit.optional().register(formFacts, { label: 'Limit of requests' }),
    platformSecurity: security.optional().register(formFacts, { label: 'Who may call it' }),
    cors: cors.optional().register(formFacts, { label: 'Pages of other origins' }),
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
