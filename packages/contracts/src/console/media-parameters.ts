/** Parameters that a node of an image or voice product may set, each with the values that the product takes. */
export const mediaParameters = {
  image: ['size', 'format', 'quality'],
  audio: ['voice', 'format'],
} as const
