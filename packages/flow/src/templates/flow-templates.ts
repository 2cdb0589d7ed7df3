import type { FlowTemplate } from './flow-template.ts'
import { describeImage, imageWithCaption, voiceNote } from './media-templates.ts'
import {
  answerFromDocument,
  bestOfTwo,
  checkedSummary,
  classifyAndRoute,
  extractData,
  reviewRounds,
  translate,
} from './text-templates.ts'

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
