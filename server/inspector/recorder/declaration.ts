import { z } from 'zod';
import type { SavedRequest } from '../../api/routes/sending.ts';
import { type Declaration, limit, log, settingNotes } from '../../plugin/declaration.ts';

export const recorder = {
  settings: {
    records: z
      .strictObject({
        keep: z.enum(['disk', 'memory', 'nothing']).default('disk').register(settingNotes, {
          description: 'where to record invocations, requests and logs: disk (the data folder), memory or nothing',
          expected: 'disk, memory or nothing',
          placeholder: 'WHERE',
        }),
        memoryBytes: limit(32 * 1024 * 1024, 'memory for the newest records in bytes'),
        maxItems: limit(50_000, 'maximum number of invocations, of requests and of log lines each'),
        maxBytes: limit(512 * 1024 * 1024, 'maximum size of all records in the data folder in bytes'),
        maxDays: limit(14, 'days to keep records'),
      })
      .prefault({}),
  },
  logs: { 'saved-requests': log<SavedRequest>({ part: 'workbench', reset: true }) },
  topics: ['traffic', 'invocations', 'history'] as const,
} satisfies Declaration;
