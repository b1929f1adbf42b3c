import { jsonBody } from '../api/client/route-client.ts';
import { outboundRoutes } from '../api/routes/outbound.ts';
import type { OutboundRules } from './api.ts';
import type { Client } from './client.ts';

export function outboundOf(client: Client): OutboundRules {
  const read = () => client.ask(outboundRoutes.readOutboundRules);
  return {
    list: async () => (await read()).rules,
    async add(rule) {
      const { rules, revision } = await read();
      await client.ask(outboundRoutes.replaceOutboundRules, jsonBody({ rules: [rule, ...rules], revision }));
    },
    async clear() {
      await client.ask(outboundRoutes.replaceOutboundRules, jsonBody({ rules: [] }));
    },
  };
}
