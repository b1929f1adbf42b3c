import { describe, expect, it } from 'vitest';
import { DocumentStore, MAX_STORED_DOCUMENTS } from './document.ts';

const addressesOf = (host: string) => ({ baseUrl: `http://${host}`, gatewayUrl: 'http://gateway' });

describe('the store of the API document', () => {
  it('fills in the addresses of a reader once, and afterwards returns the same bytes', () => {
    const store = new DocumentStore(({ baseUrl }) => ({ servers: [baseUrl] }));
    const document = store.read(addressesOf('a'));
    expect(document.body.toString()).toBe('{"servers":["http://a"]}');
    expect(store.read(addressesOf('a'))).toBe(document);
    expect(store.read(addressesOf('b')).tag).not.toBe(document.tag);
  });

  it('keeps the documents of the latest pairs of addresses only', () => {
    const store = new DocumentStore(({ baseUrl }) => ({ servers: [baseUrl] }));
    const first = store.read(addressesOf('first'));
    const second = store.read(addressesOf('second'));
    for (let index = 2; index < MAX_STORED_DOCUMENTS; index++) store.read(addressesOf(`host-${index}`));
    expect(store.read(addressesOf('first'))).toBe(first);
    store.read(addressesOf('another'));
    expect(store.read(addressesOf('first'))).toBe(first);
    const again = store.read(addressesOf('second'));
    expect(again).not.toBe(second);
    expect(again).toEqual(second);
  });
});
