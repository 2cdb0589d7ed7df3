import { expect, test } from 'vitest'
import { mediaTypeOf } from './media-type.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')

test('mediaTypeOf recognizes a format by its first bytes', () => {
  expect(mediaTypeOf(bytes('\x89PNG\r\n\x1a\n...'))).toBe('image/png')
  expect(mediaTypeOf(bytes('\xff\xd8\xff\xe0..JFIF'))).toBe('image/jpeg')
  expect(mediaTypeOf(bytes('RIFF....WEBPVP8 '))).toBe('image/webp')
  expect(mediaTypeOf(bytes('RIFF....WAVEfmt '))).toBe('audio/wav')
  expect(mediaTypeOf(bytes('ID3\x04.........'))).toBe('audio/mpeg')
  expect(mediaTypeOf(bytes('\xff\xfb\x90\x64........'))).toBe('audio/mpeg')
  expect(mediaTypeOf(bytes('%PDF-1.7....'))).toBe('application/pdf')
})

test('mediaTypeOf returns null for other formats and for too few bytes', () => {
  for (const text of ['', '\xff', 'RIFF', 'RIFF....AVI ', 'GIF89a......', '<svg xmlns=..', '\x89PNG'])
    expect(mediaTypeOf(bytes(text))).toBe(null)
  expect(mediaTypeOf(bytes('\xff\xf1\x50\x80........'))).toBe(null) // AAC
})
