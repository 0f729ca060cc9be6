/** Namespace and value URIs of ebMS 3.0, AS4 and the signal schema. */
export const EB = 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/';
export const EBBP = 'http://docs.oasis-open.org/ebxml-bp/ebbp-signals-2.0';
export const S12 = 'http://www.w3.org/2003/05/soap-envelope';
export const WSU = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd';
export const DS = 'http://www.w3.org/2000/09/xmldsig#';
export const EC = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const XML = 'http://www.w3.org/XML/1998/namespace';

/** The MPC of a message without `@mpc` (Core §3.4.1). */
export const DEFAULT_MPC = `${EB}defaultMPC`;
/** eb:Service of a ping; messages to it are never delivered, whatever their Action (Core §5.2.2.8). */
export const TEST_SERVICE = `${EB}service`;
/** eb:Action of a ping; allowed only with {@link TEST_SERVICE} (Core §5.2.2.9). */
export const TEST_ACTION = `${EB}test`;
