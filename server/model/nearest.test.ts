import { describe, expect, it } from 'vitest';
import { nearestOf } from './nearest.ts';

describe('The name that was probably meant', () => {
  it.each([
    ['Company', 'company'],
    ['first_name', 'firstName'],
    ['compny', 'company'],
    ['e-mail', 'email'],
    ['emial', 'email'],
    ['newsletter', undefined],
    ['name', undefined],
    ['', undefined],
  ])('of %j is %j', (written, expectedName) => {
    expect(nearestOf(written, ['firstName', 'lastName', 'company', 'email'])).toBe(expectedName);
  });

  it('is none where none is known', () => {
    expect(nearestOf('company', [])).toBeUndefined();
  });
});
