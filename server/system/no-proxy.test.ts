import { expect, it } from 'vitest';
import { withLoopbackNoProxy } from './no-proxy.ts';

const LOOPBACK = 'localhost,127.0.0.1,::1,[::1],terrarium.localhost';

it.each<[string, Record<string, string>, [NO_PROXY: string, no_proxy: string]]>([
  ['there is none', {}, [LOOPBACK, LOOPBACK]],
  ['it is empty', { NO_PROXY: '', no_proxy: '' }, [LOOPBACK, LOOPBACK]],
  [
    'only one of both is there',
    { NO_PROXY: 'a.example, .b' },
    [`a.example,.b,${LOOPBACK}`, `a.example,.b,${LOOPBACK}`],
  ],
  ['both differ', { NO_PROXY: 'a', no_proxy: 'b' }, [`a,${LOOPBACK}`, `b,${LOOPBACK}`]],
  ['it names loopback', { no_proxy: LOOPBACK }, [LOOPBACK, LOOPBACK]],
  ['it names every host', { NO_PROXY: '*' }, ['*', '*']],
])('NO_PROXY and no_proxy name loopback where %s', (_case, env, [upper, lower]) => {
  expect(withLoopbackNoProxy({ KEPT: 'x', ...env })).toEqual({ KEPT: 'x', NO_PROXY: upper, no_proxy: lower });
});

it('further hosts of this machine are named, too', () => {
  expect(withLoopbackNoProxy({}, ['192.0.2.1', 'localhost']).NO_PROXY).toBe(`${LOOPBACK},192.0.2.1`);
});
