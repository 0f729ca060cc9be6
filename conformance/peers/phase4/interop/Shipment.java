package interop;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

import com.helger.json.IJsonObject;
import com.helger.json.JsonObject;
import com.helger.mime.IMimeType;
import com.helger.mime.parse.MimeTypeParser;
import com.helger.phase4.crypto.ECryptoAlgorithmSign;
import com.helger.phase4.crypto.ECryptoKeyIdentifierType;
import com.helger.phase4.crypto.IAS4CryptoFactory;
import com.helger.phase4.ebms3header.Ebms3Error;
import com.helger.phase4.ebms3header.Ebms3SignalMessage;
import com.helger.phase4.incoming.IAS4IncomingMessageState;
import com.helger.phase4.messaging.http.HttpRetrySettings;
import com.helger.phase4.model.pmode.IPModeIDProvider;
import com.helger.phase4.model.pmode.PMode;
import com.helger.phase4.peppol.Phase4PeppolSender;
import com.helger.phase4.peppol.Phase4PeppolSender.AbstractPeppolUserMessageBuilder;
import com.helger.phase4.profile.peppol.PeppolPMode;
import com.helger.phase4.sender.EAS4UserMessageSendResult;
import com.helger.phase4.sender.IAS4SignalMessageValidationResultHandler;
import com.helger.xsds.xmldsig.ReferenceType;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/**
 * One message through phase4's Peppol sender, to an endpoint that is known already. phase4 takes a receipt for good that is unsigned, signed by
 * another access point or about another message; so what makes a receipt one is looked at here as well, with what phase4 has parsed.
 */
final class Shipment {
  private static final String EB = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/";
  private static final String EBBP = "http://docs.oasis-open.org/ebxml-bp/ebbp-signals-2.0";
  private static final String DS = "http://www.w3.org/2000/09/xmldsig#";
  private static final String WSU = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";

  private static final List<String> CHECKS = List.of("signature", "signer", "RefToMessageId", "signed Messaging", "references");

  private final IJsonObject order;
  private final IAS4CryptoFactory crypto;
  private final X509Certificate receiver;
  private final JsonObject checks = new JsonObject();
  private JsonObject error;
  private String comparison = "not compared";
  private String failure;
  /** What phase4 has signed; known once it has an answer. */
  private List<String> sent = List.of();

  Shipment(IJsonObject order, IAS4CryptoFactory crypto, X509Certificate receiver) {
    this.order = order;
    this.crypto = crypto;
    this.receiver = receiver;
    for (String each : CHECKS) checks.add(each, false); // what is never looked at has not been found right
  }

  JsonObject send() throws Exception {
    AbstractPeppolUserMessageBuilder<?> message = order.containsKey("sbd") ? ready() : wrapped();
    address(message);
    secure(message);
    retry(message);
    listen(message);
    EAS4UserMessageSendResult result = message.sendMessageAndCheckForReceipt(e -> {
      failure = e.getMessage();
      ((Throwable) e).printStackTrace();
    });
    JsonObject judgement = new JsonObject();
    judgement.add("accepted", result.isSuccess());
    judgement.add("verdict", result.name() + (failure == null ? "" : ": " + failure));
    if (result.isSuccess()) checks.add("comparison of references", "equal".equals(comparison));
    judgement.add("checks", checks);
    if (error != null) judgement.add("error", error);
    return judgement;
  }

  /** A StandardBusinessDocument that somebody else has made. */
  private AbstractPeppolUserMessageBuilder<?> ready() throws Exception {
    return Phase4PeppolSender.sbdhBuilder().payload(Files.readAllBytes(Path.of(text("sbd"))));
  }

  /** phase4 makes the StandardBusinessDocument; what is no XML goes into a wrapper. */
  private AbstractPeppolUserMessageBuilder<?> wrapped() throws Exception {
    byte[] document = Files.readAllBytes(Path.of(text("document")));
    var message = Phase4PeppolSender.builder().disableValidation().sbdhInstanceIdentifier(text("instanceId"));
    if (!order.containsKey("wrapper")) return message.payload(document);
    IMimeType type = MimeTypeParser.parseMimeType(text("mimeType"));
    message.sbdhStandard(text("standard")).sbdhTypeVersion(text("version")).sbdhType(text("root"));
    if (text("wrapper").equals("BinaryContent")) return message.payloadBinaryContent(document, type, null);
    return message.payloadTextContent(new String(document, StandardCharsets.ISO_8859_1), type);
  }

  private void address(AbstractPeppolUserMessageBuilder<?> message) {
    var ids = Phase4PeppolSender.IF;
    message.senderParticipantID(ids.createParticipantIdentifierWithDefaultScheme(text("from")));
    message.receiverParticipantID(ids.createParticipantIdentifierWithDefaultScheme(text("to")));
    message.documentTypeID(ids.createDocumentTypeIdentifierWithDefaultScheme(text("documentType")));
    message.processID(ids.createProcessIdentifierWithDefaultScheme(text("process")));
    message.countryC1("BE");
    message.senderPartyID(text("party"));
    message.messageID(text("messageId"));
    message.receiverEndpointDetails(receiver, text("url"));
    if (order.containsKey("plain")) message.compressPayload(false);
  }

  private void secure(AbstractPeppolUserMessageBuilder<?> message) {
    message.cryptoFactory(crypto);
    message.checkReceiverAPCertificate(false); // it would ask the real Peppol CAs
    if (order.containsKey("keyName")) {
      message.withCryptParams(p -> p.setKeyIdentifierType(ECryptoKeyIdentifierType.getFromIDOrThrow(text("keyName"))));
    }
    if (order.containsKey("tokenName")) {
      message.withSigningParams(p -> p.setKeyIdentifierType(ECryptoKeyIdentifierType.getFromIDOrThrow(text("tokenName"))));
    }
    if (order.containsKey("signatureAlgorithm")) { // the P-Mode decides, whatever the signing parameters say
      PMode mode = PeppolPMode.createPeppolPMode("i", "r", text("url"), IPModeIDProvider.DEFAULT_DYNAMIC, false);
      mode.getLeg1().getSecurity().setX509SignatureAlgorithm(ECryptoAlgorithmSign.getFromIDOrThrow(text("signatureAlgorithm")));
      message.pmode(mode);
    }
  }

  /** Without an order of ours phase4's own defaults hold. */
  private void retry(AbstractPeppolUserMessageBuilder<?> message) {
    if (!order.containsKey("retries")) return;
    HttpRetrySettings settings = new HttpRetrySettings().setMaxRetries(Integer.parseInt(text("retries")));
    if (order.containsKey("pause")) settings.setDurationBeforeRetry(Duration.ofMillis(Long.parseLong(text("pause"))));
    message.httpRetrySettings(settings);
  }

  private void listen(AbstractPeppolUserMessageBuilder<?> message) {
    message.rawResponseConsumer(response -> {
      List<String> references = new ArrayList<>();
      for (ReferenceType each : response.getBuiltMessage().getAllDSReferences()) {
        references.add(each.getURI() + " " + Base64.getEncoder().encodeToString(each.getDigestValue()));
      }
      sent = references;
    });
    message.signalMsgConsumer((signal, metadata, state) -> judge(signal, state));
    message.signalMsgValidationResultHdl(new IAS4SignalMessageValidationResultHandler() {
      @Override
      public void onSuccess() {
        comparison = "equal";
      }

      @Override
      public void onError(String reason) {
        comparison = reason;
      }

      @Override
      public void onNotApplicable() {
        comparison = "nothing to compare";
      }
    });
  }

  private void judge(Ebms3SignalMessage signal, IAS4IncomingMessageState state) {
    checks.add("signature", state.isSoapSignatureChecked());
    checks.add("signer", receiver.equals(state.getSigningCertificate()));
    checks.add("RefToMessageId", text("messageId").equals(signal.getMessageInfo().getRefToMessageId()));
    Document envelope = state.getOriginalSoapDocument();
    checks.add("signed Messaging", envelope != null && signsMessaging(envelope));
    if (signal.getReceipt() != null) {
      checks.add("references", envelope != null && !sent.isEmpty() && sent.equals(receipted(envelope)));
    }
    for (Ebms3Error each : signal.getError()) {
      error = new JsonObject();
      error.add("code", each.getErrorCode());
      if (each.getDescription() != null) error.add("description", each.getDescriptionValue());
      if (each.getErrorDetail() != null) error.add("detail", each.getErrorDetail());
    }
  }

  private static boolean signsMessaging(Document envelope) {
    List<Element> messaging = all(envelope, EB, "Messaging");
    if (messaging.size() != 1) return false;
    String id = messaging.get(0).getAttributeNS(WSU, "Id");
    return !id.isEmpty() && all(envelope, DS, "Reference").stream()
        .anyMatch(each -> each.getParentNode().getLocalName().equals("SignedInfo") && each.getAttribute("URI").equals("#" + id));
  }

  /** The references of the receipt in the form of {@link #sent}. */
  private static List<String> receipted(Document envelope) {
    List<String> references = new ArrayList<>();
    for (Element part : all(envelope, EBBP, "MessagePartNRInformation")) {
      for (Element each : all(part, DS, "Reference")) {
        String digest = all(each, DS, "DigestValue").get(0).getTextContent().replaceAll("\\s", "");
        references.add(each.getAttribute("URI") + " " + digest);
      }
    }
    return references;
  }

  private static List<Element> all(Node below, String namespace, String name) {
    NodeList found = below instanceof Document document
        ? document.getElementsByTagNameNS(namespace, name)
        : ((Element) below).getElementsByTagNameNS(namespace, name);
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < found.getLength(); i++) elements.add((Element) found.item(i));
    return elements;
  }

  private String text(String field) {
    return order.getAsString(field);
  }
}
