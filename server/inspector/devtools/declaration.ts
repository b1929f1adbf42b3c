import { z } from 'zod';
import type { TestEvent } from '../../api/routes/workbench.ts';
import { type Declaration, log, settingNotes } from '../../plugin/declaration.ts';
import type { FileLink } from './linked-files.ts';
import type { KeptOutboundRules } from './outbound-rules.ts';

export const outbound = {
  settings: {
    outbound: z
      .strictObject({
        default: z.enum(['pass', 'block']).default('pass').register(settingNotes, {
          description: 'calls of lambdas to hosts outside this machine that no outbound rule matches: pass or block',
          expected: 'pass or block',
          placeholder: 'pass|block',
        }),
        crm: z.enum(['catch', 'pass']).default('catch').register(settingNotes, {
          description: 'calls of lambdas to their CRM: catch (the mock CRM responds) or pass (to the real host)',
          expected: 'catch or pass',
          placeholder: 'catch|pass',
        }),
        mail: z.enum(['catch', 'pass']).default('catch').register(settingNotes, {
          description: 'mails of lambdas: catch (the mock mail server keeps them) or pass (to the real server)',
          expected: 'catch or pass',
          placeholder: 'catch|pass',
        }),
        crmHosts: z
          .array(
            z
              .string()
              .regex(/^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\])(:\d{1,5})?$/)
              .toLowerCase(),
          )
          .default([])
          .register(settingNotes, {
            description: 'hosts of CRMs, as if CRM_API_BASEPATH of every lambda named them',
            expected: 'host names with or without a port, separated by commas',
            placeholder: 'LIST',
          }),
      })
      .prefault({}),
  },
  topics: ['outbound'] as const,
  logs: { 'outbound-rules': log<KeptOutboundRules>({ part: 'outbound', reset: true }) },
} satisfies Declaration;

export const mcp = {
  settings: {
    mcp: z.enum(['loopback', 'all', 'off']).default('loopback').register(settingNotes, {
      description: 'who can use the MCP server at {base_url}/mcp: loopback (programs on this machine), all, or off',
      expected: 'loopback, all or off',
      placeholder: 'WHO',
    }),
  },
} satisfies Declaration;

export const devtools = {
  topics: ['workbench', 'simulation'] as const,
  logs: {
    /** Files that are the source of lambdas' code, by lambda. */
    'linked-files': log<FileLink>({ part: 'workbench' }),
    'test-events': log<{ events: TestEvent[] }>({ part: 'workbench', reset: true }),
  },
} satisfies Declaration;
