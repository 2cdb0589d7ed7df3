import { type FlowTemplate, audio, chat, flow, image, prompt, side, text } from './flow-template.ts'
import {
  answerFromDocument,
  bestOfTwo,
  checkedSummary,
  classifyAndRoute,
  extractData,
  reviewRounds,
  translate,
} from './text-templates.ts'

// Templates that read or create images and audio.

const imageWithCaption: FlowTemplate = {
  id: 'image-with-caption',
  title: 'Image with caption',
  summary: 'Describes a scene for a topic, draws it, and writes a caption.',
  slots: { writer: { title: 'Writer', kind: 'chat' }, artist: { title: 'Artist', kind: 'image' } },
  graph: flow(
    side({ topic: text('Topic') }),
    side({ picture: image('Picture'), caption: text('Caption') }),
    [
      prompt('imagine', 'Describe one scene that shows {{ topic }}: subject, setting, light and style, in 60 words.'),
      chat('scene', 'writer', 200),
      { id: 'draw', kind: 'product.image', product: 'artist' },
      prompt('title', 'Write a caption of at most 15 words for a picture about {{ topic }}. It shows: {{ scene }}'),
      chat('caption', 'writer', 60),
    ],
    [
      'in.topic > imagine.topic',
      'imagine.text > scene.prompt',
      'scene.text > draw.prompt',
      'draw.image > out.picture',
      'in.topic > title.topic',
      'scene.text > title.scene',
      'title.text > caption.prompt',
      'caption.text > out.caption',
    ],
  ),
}

const voiceNote: FlowTemplate = {
  id: 'voice-note',
  title: 'Voice note',
  summary: 'Turns key points into a short script, and speaks it.',
  slots: { writer: { title: 'Writer', kind: 'chat' }, speaker: { title: 'Speaker', kind: 'audio' } },
  graph: flow(
    side({ points: text('Key points') }),
    side({ note: audio('Voice note'), script: text('Script') }),
    [
      prompt(
        'ask',
        'Write a voice message of at most 80 words that covers these points. It is read aloud, so use no lists, links or abbreviations.\n\n{{ points }}',
      ),
      chat('write', 'writer', 200),
      { id: 'speak', kind: 'product.audio', product: 'speaker' },
    ],
    [
      'in.points > ask.points',
      'ask.text > write.prompt',
      'write.text > speak.text',
      'speak.audio > out.note',
      'write.text > out.script',
    ],
  ),
}

const describeImage: FlowTemplate = {
  id: 'describe-image',
  title: 'Describe an image',
  summary: 'Writes the alternative text of an image for people who cannot see it.',
  slots: { viewer: { title: 'Viewer', kind: 'chat', needs: 'images' } },
  graph: flow(
    side({ photo: image('Image'), context: text('Context') }, ['context']),
    side({ description: text('Description') }),
    [
      prompt(
        'ask',
        'Write the alternative text of this image: what matters in it, in at most two sentences, without "image of". Where it appears: {{ context }}',
      ),
      chat('describe', 'viewer', 200),
    ],
    [
      'in.context > ask.context',
      'ask.text > describe.prompt',
      'in.photo > describe.image',
      'describe.text > out.description',
    ],
  ),
}

export { fillTemplate, type FlowTemplate, type TemplateSlot } from './flow-template.ts'

/** All templates, in the order in which a gallery shows them. */
export const flowTemplates: readonly FlowTemplate[] = [
  translate,
  checkedSummary,
  classifyAndRoute,
  extractData,
  answerFromDocument,
  reviewRounds,
  bestOfTwo,
  imageWithCaption,
  voiceNote,
  describeImage,
]
