import { expect, it } from 'vitest';
import { instanceOf } from './instance.ts';

it.each([
  ['/home/ada/shop/.terrarium', 'shop', 'npx terrarium-emulator start'],
  ['C:\\Users\\ada\\shop\\.terrarium', 'shop', 'npx terrarium-emulator start'],
  ['/home/ada/shop/.terrarium/instances/demo', 'demo', 'npx terrarium-emulator start --instance demo'],
  ['/tmp/my data', 'my data', "npx terrarium-emulator start --data '/tmp/my data'"],
  ['D:\\my data', 'my data', 'npx terrarium-emulator start --data "D:\\my data"'],
  [':memory:', ':memory:', 'npx terrarium-emulator start --data :memory:'],
  [undefined, '127.0.0.1:4700', 'npx terrarium-emulator start'],
])('an instance in %s is called %s', (dataDir, name, startCommand) => {
  expect(instanceOf(dataDir, '127.0.0.1:4700')).toMatchObject({ name, startCommand });
});

it('an instance has one color for all users', () => {
  const host = 'terrarium.localhost:4700';
  expect(instanceOf('/a/.terrarium', host).hue).toBe(instanceOf(undefined, host).hue);
  expect(instanceOf(undefined, host).name).toBe('localhost:4700');
});

it('instances of one name at other addresses have other colors', () => {
  const [first, other] = [4700, 4710].map((port) => instanceOf('/a/.terrarium', `127.0.0.1:${port}`).hue);
  expect(first).not.toBe(other);
});
