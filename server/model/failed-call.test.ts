import { describe, expect, it } from 'vitest';
import { failedCalls } from './failed-call.ts';

const form = { method: 'POST', url: 'https://crm.example.com/form' };
const lookup = { method: 'GET', url: 'https://scm.example.com/review' };

describe('A call that a lambda made', () => {
  it.each([
    ['was refused', { ...form, status: 400 }],
    ['met a fault', { ...lookup, status: 503 }],
    ['was not answered', { ...lookup, error: 'ECONNREFUSED' }],
    ['broke off after the head of the answer', { ...lookup, status: 200, error: 'aborted' }],
    ['may not ask', { ...lookup, status: 403 }],
    ['wrote to what is not there', { ...form, status: 404 }],
  ])('failed when it %s', (_, call) => {
    expect(failedCalls([call])).toEqual([call]);
  });

  it.each([
    ['was taken', { ...form, status: 201 }],
    ['was sent elsewhere', { ...form, status: 302 }],
    ['asked for something that is not there', { ...lookup, status: 404 }],
    ['asked for something that is gone', { method: 'HEAD', url: lookup.url, status: 410 }],
  ])('did not when it %s', (_, call) => {
    expect(failedCalls([call])).toEqual([]);
  });

  it('is made good by the same call once more, not by another one', () => {
    const [refused, accepted] = [
      { ...form, status: 503 },
      { ...form, status: 200 },
    ];
    expect(failedCalls([refused, refused, accepted])).toEqual([]);
    expect(failedCalls([accepted, refused])).toEqual([refused]);
    expect(failedCalls([refused, { ...lookup, status: 200 }])).toEqual([refused]);
  });
});
