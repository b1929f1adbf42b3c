import { z } from 'zod';
import { type Declaration, limit, log, port, settingNotes } from '../../plugin/declaration.ts';
import type { KeptScmAccess } from './scm-access.ts';
import type { ScmGroup, ScmProject } from './scm-state.ts';

export const scm = {
  settings: {
    scmPort: port(0, 'port of the mock GitLab'),
    scmToken: z.string().min(1).optional().register(settingNotes, {
      description: 'access token of the mock GitLab; generated for each data folder if not set',
      expected: 'a non-empty text',
      placeholder: 'TEXT',
      isSecret: true,
    }),
  },
  limits: { registryMegabytes: limit(8192, 'size of all images in the registry of the mock GitLab, in MB') },
  topics: ['pipelines'] as const,
  listener: { title: 'SCM', noun: 'mock GitLab' },
  logs: {
    scm: log<ScmProject>({ part: 'scm', reset: true }),
    /** Groups that have variables, by path. */
    scmGroups: log<ScmGroup>({ part: 'scm', reset: true, isUncounted: true }),
    /** The address at the last start, which lambdas still name until they are changed to the present one. */
    places: log<KeptScmAccess>({ part: 'scm', isUncounted: true }),
  },
} satisfies Declaration;
