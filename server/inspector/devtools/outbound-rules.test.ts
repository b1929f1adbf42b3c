import { expect, it } from 'vitest';
import { outboundRulesRequest } from '../../model/outbound-rules-request.ts';
import { MemoryFiles } from '../../storage/files/files.ts';
import { openKeyedLog } from '../../storage/files/keyed-log.ts';
import { type KeptOutboundRules, outboundRulesIn } from './outbound-rules.ts';

async function open() {
  let changes = 0;
  const log = await openKeyedLog<KeptOutboundRules>(new MemoryFiles(), { name: 'rules', onWarning: () => {} });
  const onChange = async () => {
    changes += 1;
  };
  return { rules: outboundRulesIn(log, onChange), changes: () => changes };
}
const requestWith = (...rules: object[]) => outboundRulesRequest.parse({ rules });

it('gives every rule an id of its own and keeps those that they have', async () => {
  const { rules, changes } = await open();
  expect(rules.kept()).toEqual({ revision: 0, rules: [] });
  const {
    rules: [first],
  } = await rules.replace(requestWith({ host: '{crm}', action: 'fail', status: 500 }));
  expect(first).toEqual({ id: expect.any(String), host: '{crm}', action: 'fail', status: 500, enabled: true });
  const twice = await rules.replace(requestWith({ ...first }, { ...first, enabled: false }));
  expect(twice.rules[0]).toEqual(first);
  expect(twice.rules[1]?.id).not.toBe(first?.id);
  expect(changes()).toBe(2);
});

it('refuses a change of rules that were changed meanwhile, and leaves them alone', async () => {
  const { rules } = await open();
  const stored = await rules.replace(requestWith({ host: 'a', action: 'pass' }));
  await expect(rules.replace({ ...requestWith(), revision: 0 })).rejects.toMatchObject({ status: 409 });
  expect(rules.kept()).toEqual(stored);
  expect(await rules.replace({ ...requestWith(), revision: 1 })).toEqual({ revision: 2, rules: [] });
});
