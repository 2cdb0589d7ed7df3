import { seeded } from './seeded.ts'

const samplesPerSecond = 8_000
const msPerCharacter = 40
const longestMs = 4_000

/** A valid WAV (8 kHz, mono, 16 bit): one tone per character, 40 ms each, at most 4 s; the same for the same text. */
export function voiceWav(text: string, voice: string): Buffer {
  const random = seeded(`${voice}\n${text}`)
  const tones = Math.min(Math.max(text.length, 1), longestMs / msPerCharacter)
  const samplesPerTone = (samplesPerSecond * msPerCharacter) / 1_000
  const data = Buffer.alloc(tones * samplesPerTone * 2)
  for (let tone = 0; tone < tones; tone++) {
    const halfPeriod = 4 + random.next(12)
    for (let i = 0; i < samplesPerTone; i++) {
      const sample = Math.floor(i / halfPeriod) % 2 === 0 ? 4_000 : -4_000
      data.writeInt16LE(sample, (tone * samplesPerTone + i) * 2)
    }
  }
  return Buffer.concat([header(data.length), data])
}

function header(dataBytes: number): Buffer {
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + dataBytes, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20) // uncompressed
  head.writeUInt16LE(1, 22) // mono
  head.writeUInt32LE(samplesPerSecond, 24)
  head.writeUInt32LE(samplesPerSecond * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(dataBytes, 40)
  return head
}
