//! Opportunistic wireless encryption (RFC 8110): association with a Diffie-Hellman exchange.
//!
//! Takes a [`Link`] with AKM 00-0F-AC:18 and a group; gives an association request and response
//! with the DH parameter element, a PMK and its identifier. Authenticates neither end.
//!
//! With the draft AKM of ML-KEM-768 the station's encapsulation key and the access point's ciphertext
//! follow the public keys of the curve in the same element, which is sent in fragments. No public
//! text has this layout: it is an assumption.

use airtoll_wire::ieee80211::element::extension::OWE_DH_PARAMETER;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::{Elements, Management, ManagementRepr};

use crate::crypto::ec_group::Group;
use crate::crypto::kem::KemHalf;
use crate::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::{Code, Failure, reason, status};
use crate::link::agreed::{Link, extended_element, read_management};
use crate::resend::Resend;

const REPEATS: u8 = 2;

/// Either end.
pub struct OwePeer {
    link: Link,
    group: Option<Group>,
    further_groups: Vec<u16>,
    party: Party,
    private: Option<Vec<u8>>,
    public: Vec<u8>,
    kem: Option<KemHalf>,
    resend: Resend,
    state: Status,
}

impl OwePeer {
    /// The station; `group` is 19, 20 or 21.
    #[must_use]
    pub fn station(link: Link, group: u16) -> Self {
        Self::new(link, group, Party::Station, REPEATS)
    }

    /// The AP, which accepts this group.
    #[must_use]
    pub fn access_point(link: Link, group: u16) -> Self {
        Self::new(link, group, Party::AccessPoint, REPEATS + 2)
    }

    /// Groups that a station tries next, in this order, when its group is refused; groups that an
    /// AP accepts as well.
    #[must_use]
    pub fn with_further_groups(mut self, groups: Vec<u16>) -> Self {
        self.further_groups = groups;
        self
    }

    fn new(link: Link, group: u16, party: Party, repeats: u8) -> Self {
        Self {
            further_groups: Vec::new(),
            kem: KemHalf::new(link.akm, party),
            link,
            group: Group::from_number(group),
            party,
            private: None,
            public: Vec::new(),
            resend: Resend::new(repeats),
            state: Status::Waiting,
        }
    }

    /// Draws a key pair; the public key travels as its x coordinate (RFC 8110 section 4.3).
    fn draw(&mut self, context: &mut Context<'_>) {
        let Some(group) = &self.group else {
            return;
        };
        let private = group.random_scalar(context);
        if let Some(point) = group.multiply_base(context, &private) {
            self.public = point[..group.octets()].to_vec();
            self.private = Some(private);
        }
        if let Some(kem) = &mut self.kem {
            kem.draw(context);
        }
    }

    /// The public key as it travels: that of the curve, then that of a KEM or its ciphertext.
    fn own(&self) -> Vec<u8> {
        let kem = self.kem.as_ref().map(KemHalf::own).unwrap_or_default();
        [&self.public[..], &kem].concat()
    }

    fn element(&self) -> Vec<u8> {
        let number = self.group.as_ref().map_or(0, Group::number);
        extended_element(
            OWE_DH_PARAMETER,
            &[&number.to_le_bytes()[..], &self.own()].concat(),
        )
    }

    /// RFC 8110 section 4.4 with the other end's public key. The secret of a KEM follows that of the curve.
    fn secrets(&mut self, context: &mut Context<'_>, peer: &[u8]) -> Option<Secrets> {
        let (group, private) = (self.group.as_ref()?, self.private.as_ref()?);
        let (x, rest) = peer.split_at_checked(group.octets())?;
        let encapsulated = match &mut self.kem {
            Some(kem) => kem.agree(context, rest)?,
            None => Vec::new(),
        };
        let own = self.own();
        let (client, access_point) = match self.party {
            Party::Station => (&own[..], peer),
            _ => (peer, &own[..]),
        };
        let point = group.lift(context, x, false)?;
        let z = group.agree(context, &point, private)?;
        let hash = group.hash();
        let number = group.number().to_le_bytes();
        let salt = [client, access_point, &number].concat();
        let prk = context.hmac(hash, &salt, &[&z, &encapsulated]);
        let pmk = context.hkdf_expand(hash, &prk, b"OWE Key Generation", hash.digest_octets());
        let mut pmkid = context.hash(hash, &[client, access_point]);
        pmkid.truncate(16);
        Some(Secrets::from([
            (SecretName::Pmk, pmk),
            (SecretName::Pmkid, pmkid),
        ]))
    }

    fn answer(&mut self, elements: &Elements<'_>, context: &mut Context<'_>) {
        self.follow(elements);
        let known = self.link.names_links(Party::Station, elements);
        let (answer, secrets) = match self.read_parameter(elements) {
            Some(_) if !known => (status::UNSPECIFIED, None),
            Some(peer) => {
                if self.private.is_none() {
                    self.draw(context);
                }
                match self.secrets(context, &peer) {
                    Some(secrets) => (status::SUCCESS, Some(secrets)),
                    None => (status::UNSPECIFIED, None),
                }
            }
            None => (status::GROUP_UNSUPPORTED, None),
        };
        let parameter = secrets.as_ref().map(|_| self.element());
        let rest = self.link.response_elements(
            answer,
            &self.link.security_element(&[]),
            &parameter.unwrap_or_default(),
        );
        let body =
            ManagementRepr::AssociationResponse(self.link.capability(), answer, 0xc001, &rest);
        let frame = self
            .link
            .management(self.party, subtype::ASSOCIATION_RESPONSE, &body);
        context.send(self.party, Party::Station, Carrier::Management, frame);
        match secrets {
            Some(secrets) => self.state = Status::Established(secrets),
            // The station may try another group: this ends nothing here.
            None if answer == status::GROUP_UNSUPPORTED => {}
            None => {
                self.state = Status::Failed(Failure::NothingInCommon {
                    code: Code::Status(answer),
                });
            }
        }
    }

    /// An AP takes the group of a request that it accepts.
    fn follow(&mut self, elements: &Elements<'_>) {
        let asked = elements
            .find_extension(OWE_DH_PARAMETER)
            .and_then(|body| body.split_first_chunk::<2>())
            .map(|(number, _)| u16::from_le_bytes(*number));
        let current = self.group.as_ref().map_or(0, Group::number);
        let other = asked.filter(|n| *n != current && self.further_groups.contains(n));
        if let (Some(number), Status::Waiting) = (other, &self.state) {
            self.further_groups.push(current);
            self.group = Group::from_number(number);
            self.private = None;
        }
    }

    fn ask(&mut self, context: &mut Context<'_>) {
        self.draw(context);
        let elements = self.link.request_elements(&[], &self.element());
        let body = ManagementRepr::AssociationRequest(self.link.capability(), 1, &elements);
        let frame = self
            .link
            .management(self.party, subtype::ASSOCIATION_REQUEST, &body);
        self.resend.send(
            context,
            self.party,
            Party::AccessPoint,
            Carrier::Management,
            frame,
        );
    }

    fn read_parameter(&self, elements: &Elements<'_>) -> Option<Vec<u8>> {
        let group = self.group.as_ref()?;
        let body = elements.find_joined(OWE_DH_PARAMETER)?;
        let (number, key) = body.split_first_chunk::<2>()?;
        let octets = group.octets() + self.kem.as_ref().map_or(0, KemHalf::peer_octets);
        let fits = u16::from_le_bytes(*number) == group.number() && key.len() == octets;
        fits.then(|| key.to_vec())
    }
}

impl Peer for OwePeer {
    fn party(&self) -> Party {
        self.party
    }

    fn start(&mut self, context: &mut Context<'_>) {
        if self.party != Party::Station {
            return;
        }
        self.ask(context);
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        match (self.party, read_management(message)) {
            (Party::AccessPoint, Some((_, Management::AssociationRequest { elements, .. })))
                if !matches!(self.state, Status::Failed(_)) =>
            {
                self.answer(&elements, context);
            }
            (
                Party::Station,
                Some((
                    _,
                    Management::AssociationResponse {
                        status, elements, ..
                    },
                )),
            ) if self.state == Status::Waiting => {
                if status == status::GROUP_UNSUPPORTED && !self.further_groups.is_empty() {
                    self.group = Group::from_number(self.further_groups.remove(0));
                    self.ask(context);
                    return;
                }
                let secrets = self
                    .read_parameter(&elements)
                    .filter(|_| status == status::SUCCESS)
                    .and_then(|peer| self.secrets(context, &peer));
                self.state = match secrets {
                    Some(secrets) => Status::Established(secrets),
                    None => Status::Failed(Failure::NothingInCommon {
                        code: Code::Status(status),
                    }),
                };
            }
            _ => {}
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.state != Status::Waiting {
            return;
        }
        let (again, code) = if self.party == Party::Station {
            (
                self.resend.after_timeout(context),
                Code::Reason(reason::LEAVING),
            )
        } else {
            (self.resend.wait(), Code::Status(status::TIMEOUT))
        };
        if !again {
            self.state = Status::Failed(Failure::PeerTimeout { code });
        }
    }

    fn status(&self) -> Status {
        self.state.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adverse::{run, run_adverse, run_flipped};
    use crate::exchange::Outcome;
    use crate::link::agreed::ManagementProtection;
    use airtoll_security::akm::{AkmHash, AkmSuite};
    use airtoll_security::suite::CipherSuite;
    use airtoll_wire::MacAddress;

    fn link() -> Link {
        Link {
            ssid: b"airtoll".to_vec(),
            station: MacAddress([2, 0, 0, 0, 0, 1]),
            access_point: MacAddress([2, 0, 0, 0, 0, 2]),
            akm: Some(AkmSuite::Owe),
            hash: AkmHash::Sha256,
            pairwise: CipherSuite::Ccmp128,
            group: CipherSuite::Ccmp128,
            protection: ManagementProtection::Required,
            multi_link: None,
            beacon_protection: false,
            operating_channel_validation: false,
            hash_to_element: false,
            announced: Default::default(),
            mobility_domain: None,
        }
    }

    fn peers(groups: (u16, u16)) -> Vec<Box<dyn Peer>> {
        peers_with(AkmSuite::Owe, groups)
    }

    fn peers_with(akm: AkmSuite, groups: (u16, u16)) -> Vec<Box<dyn Peer>> {
        let link = Link {
            akm: Some(akm),
            ..link()
        };
        vec![
            Box::new(OwePeer::station(link.clone(), groups.0)),
            Box::new(OwePeer::access_point(link, groups.1)),
        ]
    }

    #[test]
    fn the_draft_adds_a_key_and_a_ciphertext_in_fragments_to_two_messages() {
        for group in 19..=21 {
            let lengths = |akm| {
                let (log, outcome, exchange) = run(peers_with(akm, (group, group)), 1);
                assert_eq!(log.len(), 2);
                assert!(matches!(outcome, Outcome::Established(_)));
                assert_eq!(
                    exchange.status(Party::Station),
                    exchange.status(Party::AccessPoint)
                );
                [0, 1].map(|at: usize| log[at].message.octets.len())
            };
            let classical = lengths(AkmSuite::Owe);
            let draft = lengths(AkmSuite::OweMlKem768Draft);
            let point = [32, 48, 66][usize::from(group - 19)];
            for (end, octets) in [1184, 1088].into_iter().enumerate() {
                // Each element holds 255 octets, the first with its extension and the group among them.
                let more = (1 + 2 + point + octets as usize).div_ceil(255) - 1;
                assert_eq!(draft[end], classical[end] + octets as usize + 2 * more);
            }
        }
    }

    #[test]
    fn the_draft_agrees_under_loss_and_repetition() {
        for schedule in [[1, 2, 2, 2], [0, 2, 0, 2], [1, 1, 0, 1], [2, 1, 1, 2]] {
            let peers = peers_with(AkmSuite::OweMlKem768Draft, (19, 19));
            let (outcome, exchange) = run_adverse(peers, 1, &schedule);
            assert!(matches!(outcome, Outcome::Established(_)), "{schedule:?}");
            assert_eq!(
                exchange.status(Party::Station),
                exchange.status(Party::AccessPoint)
            );
        }
    }

    #[test]
    fn ends_of_owe_and_of_the_draft_have_nothing_in_common() {
        let ends = |station, access_point| -> Vec<Box<dyn Peer>> {
            let of = |akm| Link {
                akm: Some(akm),
                ..link()
            };
            vec![
                Box::new(OwePeer::station(of(station), 19)),
                Box::new(OwePeer::access_point(of(access_point), 19)),
            ]
        };
        let failure = Failure::NothingInCommon {
            code: Code::Status(77),
        };
        let (draft, owe) = (AkmSuite::OweMlKem768Draft, AkmSuite::Owe);
        for (station, access_point) in [(draft, owe), (owe, draft)] {
            let outcome = run(ends(station, access_point), 1).1;
            assert_eq!(outcome, Outcome::Failed(failure));
        }
    }

    #[test]
    fn both_ends_have_one_pmk_after_two_messages() {
        for group in 19..=21 {
            let (log, outcome, exchange) = run(peers((group, group)), 1);
            assert_eq!(log.len(), 2);
            assert!(matches!(outcome, Outcome::Established(_)));
            assert_eq!(
                exchange.status(Party::Station),
                exchange.status(Party::AccessPoint)
            );
        }
    }

    #[test]
    fn another_group_is_refused_with_status_77() {
        let failure = Failure::NothingInCommon {
            code: Code::Status(77),
        };
        assert_eq!(run(peers((19, 20)), 1).1, Outcome::Failed(failure));
    }

    #[test]
    fn a_refused_group_is_followed_by_the_next() {
        let link = link();
        let peers: Vec<Box<dyn Peer>> = vec![
            Box::new(OwePeer::station(link.clone(), 21).with_further_groups(vec![20])),
            Box::new(OwePeer::access_point(link, 19).with_further_groups(vec![20])),
        ];
        let (log, outcome, exchange) = run(peers, 1);
        assert_eq!(log.len(), 4);
        assert!(matches!(outcome, Outcome::Established(_)));
        assert_eq!(
            exchange.status(Party::Station),
            exchange.status(Party::AccessPoint)
        );
    }

    #[test]
    fn a_flipped_public_key_gives_other_keys_or_none() {
        // The DH parameter is the last element; nothing authenticates it here, the 4-way
        // handshake notices.
        let (_, exchange) = run_flipped(peers((19, 19)), 1, (0, 100, 0));
        assert_ne!(
            exchange.status(Party::Station),
            exchange.status(Party::AccessPoint)
        );
    }
}
