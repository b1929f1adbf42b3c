import { z } from 'zod';
import { type Declaration, limit } from '../../plugin/declaration.ts';

export const history = {
  settings: {
    history: z
      .strictObject({
        maxCommits: limit(100_000, 'maximum number of commits in the history'),
        maxBytes: limit(256 * 1024 * 1024, 'maximum size of the history in bytes'),
      })
      .prefault({}),
  },
} satisfies Declaration;
