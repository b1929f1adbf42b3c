import { Readable } from 'node:stream';
import type { Router } from 'express';
import { seedRoutes } from '../../api/routes/seeds.ts';
import { sendStream } from '../../api/server/compress.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { readText } from '../../api/server/read-body.ts';
import { PlatformError } from '../../model/errors.ts';
import type { WorldSeeds } from './world-seeds.ts';

const JSON_TYPE = 'application/json';
/** RFC 9512, and what was usual before it. */
const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'] as const;

/** Seeds over HTTP: applied in one commit or not at all, and made of the world. */
export function seedRouter(seeds: WorldSeeds, guard: RouteGuard): Router {
  return mountRoutes(seedRoutes, guard, {
    async applySeed({ caller, query, req }) {
      const { type, text } = await readText(req, [JSON_TYPE, ...YAML_TYPES]);
      if (text === '') throw new PlatformError('invalid_body', 'send the seed document as the body, as JSON or YAML');
      const seedText = { format: type === JSON_TYPE ? 'json' : 'yaml', text } as const;
      return seeds.apply(caller, seedText, query);
    },
    async exportSeed({ query: { scope = '/' }, req, res }) {
      const isJson = req.accepts([YAML_TYPES[0], JSON_TYPE]) === JSON_TYPE;
      const text = seeds.export(scope, isJson ? 'json' : 'yaml');
      res.vary('Accept').type(isJson ? JSON_TYPE : YAML_TYPES[0]);
      await sendStream(Readable.from([Buffer.from(text)]), res);
    },
  });
}
