import type { Router } from 'express';
import { seedRows } from '../contract/seeds.ts';
import { readText } from '../http/read-body.ts';
import { type Gate, serve } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import type { WorldSeeds } from './world-seeds.ts';

const JSON_TYPE = 'application/json';
/** RFC 9512, and what was usual before it. */
const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'] as const;

/** Seeds over HTTP: applied in one commit or not at all, and made of the world. */
export function seedRoutes(seeds: WorldSeeds, gate: Gate): Router {
  return serve(seedRows, gate, {
    async applySeed({ caller, query, req }) {
      const { type, text } = await readText(req, [JSON_TYPE, ...YAML_TYPES]);
      if (text === '') throw new PlatformError(400, 'send the seed document as the body, as JSON or YAML');
      return seeds.apply(caller, { format: type === JSON_TYPE ? 'json' : 'yaml', text }, query);
    },
    exportSeed({ query: { scope = '/' }, req, res }) {
      const isJson = req.accepts([YAML_TYPES[0], JSON_TYPE]) === JSON_TYPE;
      const text = seeds.export(scope, isJson ? 'json' : 'yaml');
      res
        .vary('Accept')
        .type(isJson ? JSON_TYPE : YAML_TYPES[0])
        .send(text);
    },
  });
}
