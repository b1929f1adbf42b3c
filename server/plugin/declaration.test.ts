import { expect, it } from 'vitest';
import { type Declaration, log, membersOf } from './declaration.ts';

it.each(['logs', 'settings'] as const)('names both subjects that declare one of %s twice', (members) => {
  const declaration: Declaration = { [members]: { leads: log({ part: 'leads' }) } };
  const declarations = { crm: declaration, smtp: { [members]: { mails: log({ part: 'mails' }) } }, fax: declaration };
  expect(() => membersOf<object>(declarations, 'log', (declared) => declared[members])).toThrow(
    "'crm' and 'fax' both declare the log 'leads': rename one of them",
  );
});
