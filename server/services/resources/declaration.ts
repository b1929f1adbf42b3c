import { z } from 'zod';
import { type Declaration, limit, settingNotes } from '../../plugin/declaration.ts';

export const resources = {
  settings: {
    rootPassword: z.string().min(1).optional().register(settingNotes, {
      description: 'password of the root user; random if not set',
      expected: 'a non-empty text',
      placeholder: 'TEXT',
      isSecret: true,
    }),
    rootApiKey: z
      .string()
      .regex(/^[\w.~-]{1,128}$/)
      .optional()
      .register(settingNotes, {
        description: "root's first API key; generated if not set",
        expected: 'up to 128 letters, digits or . _ ~ -',
        placeholder: 'KEY',
      }),
    rootApiSecret: z.string().min(1).optional().register(settingNotes, {
      description: "secret of root's first API key; generated if not set",
      expected: 'a non-empty text',
      placeholder: 'TEXT',
      isSecret: true,
    }),
    allowedHostPaths: z.array(z.string().min(1)).default([]).register(settingNotes, {
      description: 'folders of this machine that host_path volumes may mount',
      expected: 'folders, separated by commas',
      placeholder: 'LIST',
    }),
  },
  limits: { maxInstances: limit(16, 'maximum number of instances of one container') },
  topics: ['world', 'history'] as const,
  hasStatus: true,
} satisfies Declaration;
