/** What the reference has beside its library's style. */
export const referenceStyle = `
.swagger-ui .responses-inner { overflow-x: auto }
`;
