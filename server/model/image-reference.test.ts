import { expect, it } from 'vitest';
import { isImageReference } from './image-reference.ts';

it.each([
  'nginx',
  'nginx:1.27',
  'library/nginx',
  'a/b/c/d:latest',
  'localhost:5000/app',
  '127.0.0.1:32771/team/app:1_2.3-rc',
  '[::1]:5000/app',
  'registry.example.com/Team'.toLowerCase(),
  'REGISTRY.example.com/team/a__b-c.d',
  `app@sha256:${'a'.repeat(64)}`,
  `registry.example.com/app:2@sha256:${'0'.repeat(64)}`,
  `sha256:${'f'.repeat(64)}`,
  'a'.repeat(64),
])('%s is an image reference', (text) => expect(isImageReference(text)).toBe(true));

it.each([
  '',
  ' ',
  '//evil',
  '../x',
  './x',
  'a//b',
  '/a',
  'a/',
  'a/../b',
  'a?b',
  'a#b',
  'a b',
  'a%2e',
  'Nginx',
  'nginx:',
  'nginx:a b',
  'nginx@sha256:1',
  'nginx\n',
  'http://host/x',
  'ü',
  '\ud800',
  'a'.repeat(256),
  `a${'-a'.repeat(100_000)}!`,
])('%j is no image reference', (text) => expect(isImageReference(text)).toBe(false));
