import type { productDefaults } from '@gateway/api/console/products'

// Copied from the API schemas, which would add a validation library to the bundle. A test compares them.

type Defaults = Pick<typeof productDefaults, 'maxOutputBytes' | 'supportedParameters' | 'modalities'>

export const defaults: Defaults = {
  maxOutputBytes: 5_242_880,
  supportedParameters: ['max_tokens', 'temperature', 'top_p', 'stop', 'stream', 'stream_options'],
  modalities: {
    chat: { input: ['text'], output: ['text'] },
    image: { input: ['text'], output: ['image'] },
    audio: { input: ['text'], output: ['audio'] },
  },
}
